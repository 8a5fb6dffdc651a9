import type { Effect, Stream } from "effect"
import type { EncodedPage } from "../../../domain/EncodedJson.ts"
import type { ApiError } from "../../../domain/Errors.ts"
import type { PagePosition } from "../../../domain/Paging.ts"

/** A failure that still commits the transaction, so that earlier writes stay. */
export class CommittedFailure {
  readonly error: ApiError
  constructor(error: ApiError) {
    this.error = error
  }
}

/** A body that is written while it is read. */
export class StreamedBody {
  readonly size: number
  readonly bytes: Stream.Stream<Uint8Array>
  constructor(size: number, bytes: Stream.Stream<Uint8Array>) {
    this.size = size
    this.bytes = bytes
  }
}

type ReadPage<A> = (after: PagePosition) => Effect.Effect<EncodedPage<A>, ApiError>

/** A list longer than one page. Each further page is read after the client has received the one before. */
export class PagedList<out A> {
  readonly first: EncodedPage<A>
  readonly readPage: ReadPage<A>
  constructor(first: EncodedPage<A>, readPage: ReadPage<A>) {
    this.first = first
    this.readPage = readPage
  }
}

/** An HTML page for a browser. */
export class HtmlPage {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

/** A handler's value with extra headers, or with the position of the next page. */
export class HandlerResult<out A> {
  readonly value: A
  readonly next: PagePosition | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(
    value: A,
    options: { readonly next?: PagePosition | undefined; readonly headers?: Record<string, string> } = {}
  ) {
    this.value = value
    this.next = options.next
    this.headers = options.headers ?? {}
  }
}
