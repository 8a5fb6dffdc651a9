import type { PagePosition } from "./Paging.ts"

/** An A that is encoded as JSON already, for example by PostgreSQL. The response writer sends it as it is. */
export class EncodedJson<out A> {
  readonly text: string
  /** Phantom property: it exists only in the type, to tie the JSON to A. */
  declare readonly of: A
  constructor(text: string) {
    this.text = text
  }
}

/** One page of a list: its items as JSON, joined by commas, and the position of the next page, if there is one. */
export class EncodedPage<out A> {
  readonly text: string
  readonly next: PagePosition | undefined
  /** Phantom property, as above. */
  declare readonly of: A
  constructor(text: string, next: PagePosition | undefined) {
    this.text = text
    this.next = next
  }
}
