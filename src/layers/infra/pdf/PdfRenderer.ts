import { Duration, Effect } from "effect"
import { Unavailable } from "../../../domain/Errors.ts"
import type { InvoiceDocument } from "../../../domain/invoicing/document/InvoiceDocument.ts"
import type { StatementDocument } from "../../../domain/reports/StatementDocument.ts"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { makeToRequestError } from "../concurrency/RequestRejection.ts"
import type { EInvoiceDocument } from "./EInvoiceEncoding.ts"
import { type PdfDocument, rowCountOf } from "./PdfDocument.ts"
import { makeRenderThread } from "./RenderThread.ts"

/** The build writes the worker's program next to the main one. When run from source, this uses the last build. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../../dist/pdf.js" : "./pdf.js", import.meta.url)

/** A document to render. */
export interface RenderRequest<E, R, D extends PdfDocument = InvoiceDocument> {
  /** Keys of the fair concurrency limit: the tenant, and the user if there is one. */
  readonly keys: ReadonlyArray<string>
  readonly lineCount: number
  /** Runs after a permit is granted, so that queued requests use no memory. */
  readonly load: Effect.Effect<D, E, R>
}

/** A lane has permits to load documents and a thread to render them, so that a document waits for no larger one. */
export interface LaneLimits {
  /** Lines of the documents that are loaded here. They are counted before. */
  readonly maxLines: number
  /** Rows of the documents that are rendered here. */
  readonly maxRows: number
  /** Documents in memory. */
  readonly permits: number
  readonly maxPerKey: number
}

export interface RenderLimits {
  readonly lanes: ReadonlyArray<LaneLimits>
  readonly maxQueuedPerKey: number
  readonly maxQueued: number
  readonly timeout: Duration.DurationInput
  /** Timeout of one rendering: a base, plus a time per row. */
  readonly renderTimeout: Duration.DurationInput
  readonly renderTimeoutPerRow: Duration.DurationInput
}

const unlimited = Number.POSITIVE_INFINITY

export const defaultRenderLimits: RenderLimits = {
  lanes: [
    { maxLines: 200, maxRows: 1500, permits: 8, maxPerKey: 2 },
    { maxLines: 2000, maxRows: 30_000, permits: 4, maxPerKey: 1 },
    { maxLines: unlimited, maxRows: unlimited, permits: 2, maxPerKey: 1 }
  ],
  maxQueuedPerKey: 16,
  maxQueued: 256,
  timeout: "1 minute",
  renderTimeout: "30 seconds",
  // Several times what a row takes.
  renderTimeoutPerRow: "200 micros"
}

/** Tenants and callers take turns at loading and at rendering. */
const makeLane = (program: URL, { maxLines, maxRows, ...loadLimits }: LaneLimits, limits: RenderLimits) => {
  const thread = makeRenderThread(program)
  const loads = makeFairSemaphore({ ...limits, ...loadLimits }, makeToRequestError("documents to load"))
  const turns = makeFairSemaphore({ ...limits, permits: 1, maxPerKey: 1 }, makeToRequestError("documents to render"))

  return {
    maxLines,
    maxRows,
    withLoadPermit: loads.withPermit,
    render: (keys: ReadonlyArray<string>, document: PdfDocument, rows: number) => {
      const timeoutForRows = Duration.times(limits.renderTimeoutPerRow, rows)
      const rendering = Effect.timeoutFail(thread.render(document), {
        duration: Duration.sum(limits.renderTimeout, timeoutForRows),
        onTimeout: () => Unavailable.because("a document takes too long to render")
      })
      return turns.withPermit(keys, rendering)
    }
  }
}

export const makePdfRenderer = (program: URL, overrides: Partial<RenderLimits> = {}) => {
  const limits = { ...defaultRenderLimits, ...overrides }
  const lanes = limits.lanes.map((lane) => makeLane(program, lane, limits))

  const requireLane = (isFitting: (lane: (typeof lanes)[number]) => boolean) => {
    const lane = lanes.find(isFitting)
    return lane === undefined ? Effect.dieMessage("The last lane takes every document") : Effect.succeed(lane)
  }

  const renderLoaded = (keys: ReadonlyArray<string>, document: PdfDocument) => {
    const rows = rowCountOf(document)
    return Effect.flatMap(
      requireLane(({ maxRows }) => rows <= maxRows),
      (lane) => lane.render(keys, document, rows)
    )
  }

  const render = <E, R>({ keys, lineCount, load }: RenderRequest<E, R, PdfDocument>) =>
    Effect.flatMap(
      requireLane(({ maxLines }) => lineCount <= maxLines),
      (lane) =>
        lane.withLoadPermit(
          keys,
          Effect.flatMap(load, (document) => renderLoaded(keys, document))
        )
    )

  return {
    renderInvoice: <E, R>(request: RenderRequest<E, R>) => render(request),

    renderEInvoice: <E, R>(request: RenderRequest<E, R, EInvoiceDocument>) => render(request),

    /** Nobody counts the entries of a statement before they are loaded; they are few enough. */
    renderStatement: <E, R>(request: Omit<RenderRequest<E, R, StatementDocument>, "lineCount">) =>
      render({ ...request, lineCount: 0 })
  }
}

export class PdfRenderer extends Effect.Service<PdfRenderer>()("layers/PdfRenderer", {
  sync: () => makePdfRenderer(program)
}) {}
