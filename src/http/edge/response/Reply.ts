import type { Position } from "../../../domain/Paging.ts"

/** An answer that says more than its value: the next page of a list, or headers of its own. */
export class Reply<out A> {
  readonly value: A
  readonly next: Position | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(
    value: A,
    options: { readonly next?: Position | undefined; readonly headers?: Record<string, string> } = {}
  ) {
    this.value = value
    this.next = options.next
    this.headers = options.headers ?? {}
  }
}
