import { Duration, Effect } from "effect"
import { ServiceUnavailable } from "../../domain/Errors.ts"
import type { InvoiceDocument } from "../../domain/invoicing/document/InvoiceDocument.ts"
import { type FairSemaphoreLimits, makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { toRequestError } from "../concurrency/RequestRejection.ts"
import { makeRenderThread } from "./RenderThread.ts"

/** The build writes the worker's program next to the main one. When run from source, this uses the last build. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/pdf.js" : "./pdf.js", import.meta.url)

/** A document to render. */
export interface RenderRequest<E, R> {
  /** Keys of the fair concurrency limit: the tenant, and the user if there is one. */
  readonly keys: ReadonlyArray<string>
  readonly lineCount: number
  /** Loads the document after the permit is granted, so that queued requests use no memory. */
  readonly load: Effect.Effect<InvoiceDocument, E, R>
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

  const render = (document: InvoiceDocument) => {
    const timeoutForLines = Duration.times(limits.renderTimeoutPerLine, document.lines.length)
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

  /** Returns undefined when the draft has become too long since its lines were counted. */
  const renderIfSmall = (document: InvoiceDocument) =>
    document.lines.length > limits.maxSmallLines ? Effect.succeed(undefined) : small.render(document)

  return {
    renderInvoice: Effect.fnUntraced(function* <E, R>({ keys, lineCount, load }: RenderRequest<E, R>) {
      const isSmall = lineCount <= limits.maxSmallLines
      const pdf = isSmall ? yield* small.withPermit(keys, Effect.flatMap(load, renderIfSmall)) : undefined
      return pdf ?? (yield* large.withPermit(keys, Effect.flatMap(load, large.render)))
    })
  }
}

export class PdfRenderer extends Effect.Service<PdfRenderer>()("layers/PdfRenderer", {
  sync: () => makePdfRenderer(program)
}) {}
