import type { Position } from "./Paging.ts"

/** The JSON text of an A, written by someone who knows what an A looks like. */
export class JsonText<out A> {
  readonly text: string
  /** Never there: it ties the text to what it stands for. */
  declare readonly of: A
  constructor(text: string) {
    this.text = text
  }
}

/** Consecutive items of a list in JSON, joined by commas, and after which of them the next page starts, if there is one. */
export class JsonPage<out A> {
  readonly text: string
  readonly next: Position | undefined
  /** Never there, as above. */
  declare readonly of: A
  constructor(text: string, next: Position | undefined) {
    this.text = text
    this.next = next
  }
}
