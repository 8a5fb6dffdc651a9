import { Worker } from "node:worker_threads"
import { type Duration, Effect } from "effect"
import { ServiceUnavailable } from "../../domain/Errors.ts"
import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"
import type { Job, Outcome } from "./Job.ts"

/** The build puts the thread's program beside its own; from the sources the one last built is taken. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/pdf.js" : "./pdf.js", import.meta.url)

export const mostWaiting = 64

type Settle = (outcome: Effect.Effect<Uint8Array>) => void

/** A thread and who waits for it; when it ends, for whatever reason, it fails them. */
const startThread = (program: URL) => {
  const thread = new Worker(program)
  const waiting = new Map<number, Settle>()
  const settle = (number: number, outcome: Effect.Effect<Uint8Array>) => {
    waiting.get(number)?.(outcome)
    waiting.delete(number)
  }
  const end = (cause: unknown) => {
    for (const number of [...waiting.keys()]) settle(number, Effect.die(cause))
  }
  thread.on("message", (outcome: Outcome) =>
    settle(outcome.number, "pdf" in outcome ? Effect.succeed(outcome.pdf) : Effect.dieMessage(outcome.fault))
  )
  thread.on("error", end).on("exit", () => end(new Error("The drawing thread ended")))
  // It ends with the process and must not keep it alive.
  thread.unref()
  return { thread, waiting }
}

/** Draws in a thread of its own, started when the first document is wanted and again if it ever ends. */
const makeThread = (program: URL) => {
  let running: ReturnType<typeof startThread> | undefined
  let jobs = 0

  const current = () => {
    if (running === undefined) {
      const started = startThread(program)
      const forget = () => {
        if (running === started) running = undefined
      }
      started.thread.once("error", forget).once("exit", forget)
      running = started
    }
    return running
  }

  return {
    stop: Effect.promise(async () => {
      const stopped = running?.thread
      running = undefined
      await stopped?.terminate()
    }),
    draw: (document: InvoiceDocument) =>
      Effect.async<Uint8Array>((resume) => {
        const { thread, waiting } = current()
        const number = jobs++
        thread.postMessage({ number, document } satisfies Job)
        waiting.set(number, resume)
        return Effect.sync(() => waiting.delete(number))
      })
  }
}

/**
 * One document after the other, so that the time one takes is not counted against those behind it. Too many at once
 * are turned away, and a drawing that takes longer than `patience` is stopped together with its thread.
 */
export const makeDrawing = (program: URL, patience: Duration.DurationInput) =>
  Effect.map(Effect.makeSemaphore(1), (turns) => {
    const thread = makeThread(program)
    let waiting = 0

    const drawn = (document: InvoiceDocument) =>
      thread.draw(document).pipe(
        Effect.timeoutFail({ duration: patience, onTimeout: () => new ServiceUnavailable() }),
        Effect.tapError(() => thread.stop)
      )

    const counted = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => waiting++),
        () => work,
        () => Effect.sync(() => waiting--)
      )

    return {
      invoice: (document: InvoiceDocument) =>
        Effect.suspend(() =>
          waiting < mostWaiting ? counted(turns.withPermits(1)(drawn(document))) : Effect.fail(new ServiceUnavailable())
        )
    }
  })

export class Drawing extends Effect.Service<Drawing>()("layers/Drawing", {
  effect: makeDrawing(program, "30 seconds")
}) {}
