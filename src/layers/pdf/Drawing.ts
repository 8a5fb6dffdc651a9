import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { ServiceUnavailable } from "../../domain/Errors.ts"
import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"
import type { Job, Outcome } from "./Job.ts"

/** The build puts the thread's program beside its own; from the sources the one last built is taken. */
const program = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/pdf.js" : "./pdf.js", import.meta.url)

const patience = "30 seconds"
const mostWaiting = 64

type Settle = (outcome: Effect.Effect<Uint8Array>) => void

/** A thread and the jobs it has; one that ends, for whatever reason, fails them. */
const startThread = () => {
  const thread = new Worker(program)
  const jobs = new Map<number, Settle>()
  const end = (cause: unknown) => {
    for (const settle of jobs.values()) settle(Effect.die(cause))
    jobs.clear()
  }
  thread.on("message", (outcome: Outcome) => {
    const settle = jobs.get(outcome.number)
    jobs.delete(outcome.number)
    settle?.("pdf" in outcome ? Effect.succeed(outcome.pdf) : Effect.dieMessage(outcome.fault))
  })
  thread.on("error", end).on("exit", () => end(new Error("The drawing thread ended")))
  // It ends with the process and must not keep it alive.
  thread.unref()
  return { thread, jobs }
}

/** Draws documents in a thread of its own, started when the first is wanted and again if it ever ends. */
export class Drawing extends Effect.Service<Drawing>()("layers/Drawing", {
  effect: Effect.sync(() => {
    let running: ReturnType<typeof startThread> | undefined
    let number = 0

    const stop = Effect.promise(async () => {
      await running?.thread.terminate()
      running = undefined
    })

    const current = () => {
      if (running === undefined) {
        const started = startThread()
        started.thread.once("exit", () => {
          if (running === started) running = undefined
        })
        running = started
      }
      return running
    }

    const draw = (document: InvoiceDocument) =>
      Effect.async<Uint8Array>((resume) => {
        const { jobs, thread } = current()
        const job: Job = { number: number++, document }
        jobs.set(job.number, resume)
        thread.postMessage(job)
        return Effect.sync(() => jobs.delete(job.number))
      })

    return {
      /** Too many at once are turned away, and a drawing that takes too long is stopped together with its thread. */
      invoice: (document: InvoiceDocument) =>
        Effect.suspend(() => {
          if ((running?.jobs.size ?? 0) >= mostWaiting) return Effect.fail(new ServiceUnavailable())
          return draw(document).pipe(
            Effect.timeoutFail({ duration: patience, onTimeout: () => new ServiceUnavailable() }),
            Effect.tapError(() => stop)
          )
        })
    }
  })
}) {}
