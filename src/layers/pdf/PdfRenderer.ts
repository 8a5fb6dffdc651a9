import { Duration, Effect } from "effect"
import { ServiceUnavailable } from "../../domain/Errors.ts"
import type { InvoiceDocument } from "../../domain/invoicing/document/InvoiceDocument.ts"
import type { StatementDocument } from "../../domain/reports/StatementDocument.ts"
import { type FairSemaphoreLimits, makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { toRequestError } from "../concurrency/RequestRejection.ts"
import type { EInvoiceDocument } from "./EInvoiceEncoding.ts"
import { lineCountOf, type PdfDocument } from "./PdfDocument.ts"
import { makeRenderThread } from "./RenderThread.ts"

/** The build writes the worker's program next to the main one. When run from source, this uses the last build. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/pdf.js" : "./pdf.js", import.meta.url)

/** A document to render. */
export interface RenderRequest<E, R, D extends PdfDocument = InvoiceDocument> {
  /** Keys of the fair concurrency limit: the tenant, and the user if there is one. */
  readonly keys: ReadonlyArray<string>
  readonly lineCount: number
  /** Loads the document after the permit is granted, so that queued requests use no memory. */
  readonly load: Effect.Effect<D, E, R>
}

export interface RenderLimits extends FairSemaphoreLimits {
  /** Documents with up to this many lines use a separate thread and never wait for a longer one. */
  readonly maxSmallLines: number
  /** Timeout of one rendering: a base, plus a time per line. */
  readonly renderTimeout: Duration.DurationInput
  readonly renderTimeoutPerLine: Duration.DurationInput
}

export const defaultRenderLimits: RenderLimits = {
  permits: 1,
  maxPerKey: 1,
  maxQueuedPerKey: 16,
  maxQueued: 256,
  timeout: "1 minute",
  maxSmallLines: 200,
  renderTimeout: "30 seconds",
  // Several times the duration of the slowest line: a description with a line break after every letter.
  renderTimeoutPerLine: "50 millis"
}

/** A render thread behind a semaphore that is fair between tenants. */
const makeLane = (program: URL, limits: RenderLimits) => {
  const thread = makeRenderThread(program)
  const semaphore = makeFairSemaphore(limits, toRequestError)

  const render = (document: PdfDocument) => {
    const timeoutForLines = Duration.times(limits.renderTimeoutPerLine, lineCountOf(document))
    return Effect.timeoutFail(thread.render(document), {
      duration: Duration.sum(limits.renderTimeout, timeoutForLines),
      onTimeout: () => new ServiceUnavailable()
    })
  }

  return { render, withPermit: semaphore.withPermit }
}

/** Two render threads: one for small documents and one for longer ones. */
export const makePdfRenderer = (program: URL, overrides: Partial<RenderLimits> = {}) => {
  const limits = { ...defaultRenderLimits, ...overrides }
  const small = makeLane(program, limits)
  const large = makeLane(program, limits)

  /** Returns undefined when the document has more lines than were counted, and too many for this thread. */
  const renderIfSmall = (document: PdfDocument) =>
    lineCountOf(document) > limits.maxSmallLines ? Effect.succeed(undefined) : small.render(document)

  const render = Effect.fnUntraced(function* <E, R>({ keys, lineCount, load }: RenderRequest<E, R, PdfDocument>) {
    const isSmall = lineCount <= limits.maxSmallLines
    const pdf = isSmall ? yield* small.withPermit(keys, Effect.flatMap(load, renderIfSmall)) : undefined
    return pdf ?? (yield* large.withPermit(keys, Effect.flatMap(load, large.render)))
  })

  return {
    renderInvoice: <E, R>(request: RenderRequest<E, R>) => render(request),

    renderEInvoice: <E, R>(request: RenderRequest<E, R, EInvoiceDocument>) => render(request),

    /** Nobody counts the entries of a statement before they are loaded. A long one is loaded once more. */
    renderStatement: <E, R>(request: Omit<RenderRequest<E, R, StatementDocument>, "lineCount">) =>
      render({ ...request, lineCount: 0 })
  }
}

export class PdfRenderer extends Effect.Service<PdfRenderer>()("layers/PdfRenderer", {
  sync: () => makePdfRenderer(program)
}) {}
