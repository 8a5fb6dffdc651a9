import { Duration, Effect } from "effect"
import { ServiceUnavailable } from "../../domain/Errors.ts"
import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"
import { type FairLimits, makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { toRequestError } from "../concurrency/RequestRefusal.ts"
import { makeDrawingThread } from "./DrawingThread.ts"

/** The build puts the thread's program beside its own; from the sources the one last built is taken. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/pdf.js" : "./pdf.js", import.meta.url)

/** What is to be drawn, for whom, and how long it is going to be. */
export interface Drawable<E, R> {
  /** The tenant, and the caller if there is one: each has its turn. */
  readonly keys: ReadonlyArray<string>
  readonly lineCount: number
  /** Reads the document when its turn has come, so that those who wait take no memory. */
  readonly load: Effect.Effect<InvoiceDocument, E, R>
}

export interface DrawingLimits extends FairLimits {
  /** Documents of up to so many lines have a thread of their own and never wait for a longer one. */
  readonly maxSmallLines: number
  /** How long a drawing may take at all, and longer for each line. */
  readonly drawTimeout: Duration.DurationInput
  readonly drawTimeoutPerLine: Duration.DurationInput
}

export const defaultLimits: DrawingLimits = {
  permits: 1,
  maxPerKey: 1,
  maxQueuedPerKey: 16,
  maxQueued: 256,
  timeout: "1 minute",
  maxSmallLines: 200,
  drawTimeout: "30 seconds",
  // Several times what the slowest line takes, which is one whose description has a break after every letter.
  drawTimeoutPerLine: "50 millis"
}

/** A thread that draws one document after the other, tenant by tenant in turn. */
const makeLane = (program: URL, limits: DrawingLimits) => {
  const thread = makeDrawingThread(program)
  const turns = makeFairSemaphore(limits, toRequestError)

  const draw = (document: InvoiceDocument) => {
    const forLines = Duration.times(limits.drawTimeoutPerLine, document.lines.length)
    return Effect.timeoutFail(thread.draw(document), {
      duration: Duration.sum(limits.drawTimeout, forLines),
      onTimeout: () => new ServiceUnavailable()
    })
  }

  return { draw, inTurn: turns.withPermit }
}

/** Two threads: one for small documents, and one for those that are longer. Each is shared by tenant. */
export const makeDrawing = (program: URL, own: Partial<DrawingLimits> = {}) => {
  const limits = { ...defaultLimits, ...own }
  const small = makeLane(program, limits)
  const large = makeLane(program, limits)

  /** Lines may have been added to a draft since they were counted: then it is undefined. */
  const drawIfSmall = (document: InvoiceDocument) =>
    document.lines.length > limits.maxSmallLines ? Effect.succeed(undefined) : small.draw(document)

  return {
    invoice: Effect.fnUntraced(function* <E, R>({ keys, lineCount, load }: Drawable<E, R>) {
      const isSmall = lineCount <= limits.maxSmallLines
      const pdf = isSmall ? yield* small.inTurn(keys, Effect.flatMap(load, drawIfSmall)) : undefined
      return pdf ?? (yield* large.inTurn(keys, Effect.flatMap(load, large.draw)))
    })
  }
}

export class Drawing extends Effect.Service<Drawing>()("layers/Drawing", {
  sync: () => makeDrawing(program)
}) {}
