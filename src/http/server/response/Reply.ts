import type { Effect, Stream } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { JsonPage } from "../../../domain/JsonText.ts"
import type { Position } from "../../../domain/Paging.ts"

/** A failure that still commits the transaction, so that earlier writes stay. */
export class Refusal {
  readonly error: WireError
  constructor(error: WireError) {
    this.error = error
  }
}

/** A body that is written while it is read. */
export class Streamed {
  readonly size: number
  readonly bytes: Stream.Stream<Uint8Array>
  constructor(size: number, bytes: Stream.Stream<Uint8Array>) {
    this.size = size
    this.bytes = bytes
  }
}

type ReadPage<A> = (after: Position) => Effect.Effect<JsonPage<A>, WireError>

/** A list longer than one page. Each further page is read after the client has received the one before. */
export class PagedList<out A> {
  readonly first: JsonPage<A>
  readonly readPage: ReadPage<A>
  constructor(first: JsonPage<A>, readPage: ReadPage<A>) {
    this.first = first
    this.readPage = readPage
  }
}

/** An HTML page for a browser. */
export class Page {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

/** A handler's value with extra headers, or with the position of the next page. */
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
