import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { PdfDocument } from "./PdfDocument.ts"
import type { RenderResult } from "./RenderResult.ts"

/** Enough for the longest possible invoice. A thread beyond this limit fails without crashing the process. */
const maxHeapMb = 1024

/**
 * A worker thread that renders one document at a time. Starts with the first document, and again after it has ended.
 */
export const makeRenderThread = (program: URL) => {
  let running: Worker | undefined

  const clearIfRunning = (worker: Worker) => {
    if (running === worker) running = undefined
  }

  const start = () => {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    worker.on("error", () => clearIfRunning(worker)).on("exit", () => clearIfRunning(worker))
    // The thread must not keep the process alive.
    worker.unref()
    return worker
  }

  return {
    /** An interruption terminates the thread, because nothing else stops it in the middle of a document. */
    render: (document: PdfDocument) =>
      Effect.async<Uint8Array>((resume) => {
        const worker = running ?? start()
        running = worker
        const settle = (outcome: Effect.Effect<Uint8Array>) => {
          worker.off("message", onMessage).off("error", onError).off("exit", onExit)
          resume(outcome)
        }
        const onMessage = (result: RenderResult) =>
          settle("pdf" in result ? Effect.succeed(result.pdf) : Effect.dieMessage(result.error))
        const onError = (cause: unknown) => settle(Effect.die(cause))
        const onExit = () => settle(Effect.dieMessage("The drawing thread ended"))
        worker.on("message", onMessage).on("error", onError).on("exit", onExit)
        worker.postMessage(document)
        return Effect.promise(() => {
          clearIfRunning(worker)
          return worker.terminate()
        })
      })
  }
}
