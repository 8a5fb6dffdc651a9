import type { Effect, Stream } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { JsonPage } from "../../../domain/JsonText.ts"
import type { Position } from "../../../domain/Paging.ts"

/** A failure that is a result all the same: what was done before it stays done. */
export class Refusal {
  readonly error: WireError
  constructor(error: WireError) {
    this.error = error
  }
}

/** Bytes that are written as they are read. */
export class Streamed {
  readonly size: number
  readonly bytes: Stream.Stream<Uint8Array>
  constructor(size: number, bytes: Stream.Stream<Uint8Array>) {
    this.size = size
    this.bytes = bytes
  }
}

type ReadPage<A> = (after: Position) => Effect.Effect<JsonPage<A>, WireError>

/** A list too long for one page. Each further page is read by an effect of its own, once the caller has taken the one before. */
export class PagedList<out A> {
  readonly first: JsonPage<A>
  readonly readPage: ReadPage<A>
  constructor(first: JsonPage<A>, readPage: ReadPage<A>) {
    this.first = first
    this.readPage = readPage
  }
}

/** A page for a person in a browser. */
export class Page {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

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
