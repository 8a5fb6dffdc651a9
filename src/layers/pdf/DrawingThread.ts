import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"
import type { Outcome } from "./Outcome.ts"

/** Enough for the longest invoice there can be; a drawing beyond it fails without taking the process along. */
const maxHeapMb = 1024

/** A thread that draws one document at a time. It starts with the first document and again whenever it has ended. */
export const makeDrawingThread = (program: URL) => {
  let running: Worker | undefined

  const forget = (worker: Worker) => {
    if (running === worker) running = undefined
  }

  const start = () => {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    worker.on("error", () => forget(worker)).on("exit", () => forget(worker))
    // It ends with the process and must not keep it alive.
    worker.unref()
    return worker
  }

  return {
    /** Interrupting this ends the thread, since nothing else stops it in the middle of a document. */
    draw: (document: InvoiceDocument) =>
      Effect.async<Uint8Array>((resume) => {
        const worker = running ?? start()
        running = worker
        const settle = (result: Effect.Effect<Uint8Array>) => {
          worker.off("message", onMessage).off("error", onError).off("exit", onExit)
          resume(result)
        }
        const onMessage = (outcome: Outcome) =>
          settle("pdf" in outcome ? Effect.succeed(outcome.pdf) : Effect.dieMessage(outcome.fault))
        const onError = (cause: unknown) => settle(Effect.die(cause))
        const onExit = () => settle(Effect.dieMessage("The drawing thread ended"))
        worker.on("message", onMessage).on("error", onError).on("exit", onExit)
        worker.postMessage(document)
        return Effect.promise(() => {
          forget(worker)
          return worker.terminate()
        })
      })
  }
}
