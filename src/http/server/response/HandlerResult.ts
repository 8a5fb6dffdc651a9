import type { Effect, Stream } from "effect"
import type { EncodedPage } from "../../../domain/EncodedJson.ts"
import type { ApiError } from "../../../domain/Errors.ts"
import type { PagePosition } from "../../../domain/Paging.ts"
import type { RequestServices } from "../../../domain/tenancy/RequestContext.ts"

/** A failure that still commits the transaction, so that earlier writes stay. */
export class CommittedFailure {
  readonly error: ApiError
  constructor(error: ApiError) {
    this.error = error
  }
}

/** A body that is written while it is read. */
export class StreamedBody {
  /** Undefined if it is not known before the end. */
  readonly size: number | undefined
  readonly bytes: Stream.Stream<Uint8Array>
  /** The limit that it counts against. An export runs statements for as long as it is read. */
  readonly kind: "files" | "exports"
  constructor(size: number | undefined, bytes: Stream.Stream<Uint8Array>, kind: StreamedBody["kind"] = "files") {
    this.size = size
    this.bytes = bytes
    this.kind = kind
  }
}

type ReadPage<A> = (after: PagePosition) => Effect.Effect<EncodedPage<A>, ApiError>

/** What is written before, between and after the pages of a list. */
export interface Framing {
  readonly start: string
  readonly separator: string
  readonly end: string
}

const jsonFraming: Framing = { start: '{"data":[', separator: ",", end: "]}" }

/** A list longer than one page. Each further page is read after the client has received the one before. */
export class PagedList<out A> {
  readonly first: EncodedPage<A>
  readonly readPage: ReadPage<A>
  readonly framing: Framing
  constructor(first: EncodedPage<A>, readPage: ReadPage<A>, framing = jsonFraming) {
    this.first = first
    this.readPage = readPage
    this.framing = framing
  }
}

/** One page of a list, and the position of the next one, if there is one. */
export interface ListPage {
  readonly items: ReadonlyArray<object>
  readonly next: PagePosition | undefined
}

export type ListPageReader<E, R> = (after: PagePosition) => Effect.Effect<ListPage, E, R>

/** An HTML page for a browser. */
export class HtmlPage {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

interface ResultOptions {
  readonly next?: PagePosition | undefined
  /** Reads the pages after the first, for a response that has room for the whole list. */
  readonly readPage?: ListPageReader<ApiError, RequestServices>
  readonly headers?: Record<string, string>
}

export const noHeaders: Readonly<Record<string, string>> = {}

/** A handler's value with extra headers, or with the position of the next page. */
export class HandlerResult<out A> {
  readonly value: A
  readonly next: PagePosition | undefined
  readonly readPage: ListPageReader<ApiError, RequestServices> | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(value: A, { headers = noHeaders, next, readPage }: ResultOptions = {}) {
    this.value = value
    this.next = next
    this.readPage = readPage
    this.headers = headers
  }
}
