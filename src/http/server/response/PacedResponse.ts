import type { ServerResponse } from "node:http"
import { Effect } from "effect"

/** How much a client has to read within the time that the service waits for it. */
export interface SlowestReading {
  readonly bytes: number
  readonly millis: number
}

/** 4 KiB a second. The unread rest of a response stays in memory, and keeps its place among those that are written. */
const slowestReading: SlowestReading = { bytes: 240 * 1024, millis: 60_000 }

/** Disconnects a client that reads the rest of an ended response too slowly. */
export const disconnectIfSlow = (response: ServerResponse, unreadBytes: number, { bytes, millis } = slowestReading) => {
  const timer = setTimeout(() => response.destroy(), millis * (1 + unreadBytes / bytes)).unref()
  response.once("close", () => clearTimeout(timer))
}

/** How far a client has read is known only when a write is complete. */
const maxPieceBytes = 128 * 1024

/**
 * A response that is written in pieces, each after the client has received the one before. A client that reads too slowly
 * is disconnected, whatever it sends meanwhile.
 */
export class PacedResponse {
  readonly #response: ServerResponse
  readonly #slowest: SlowestReading
  #waitedMs = 0
  #readBytes = 0

  constructor(response: ServerResponse, slowest = slowestReading) {
    this.#response = response
    this.#slowest = slowest
  }

  /** Returns whether the client is still connected. */
  write(content: string | Uint8Array): Effect.Effect<boolean> {
    return Effect.suspend(() => this.#writeFrom(typeof content === "string" ? Buffer.from(content) : content, 0))
  }

  end(content?: string) {
    if (this.#response.destroyed) return
    this.#response.end(content)
  }

  #writeFrom(bytes: Uint8Array, from: number): Effect.Effect<boolean> {
    for (let start = from; start < bytes.length; start += maxPieceBytes) {
      if (this.#response.destroyed || this.#response.writableEnded) return Effect.succeed(false)
      const piece = bytes.subarray(start, start + maxPieceBytes)
      if (this.#response.write(piece)) continue
      return Effect.flatMap(this.#awaitDrain(piece.length), () => this.#writeFrom(bytes, start + maxPieceBytes))
    }
    return Effect.succeed(!this.#response.destroyed)
  }

  #awaitDrain(bytes: number) {
    const response = this.#response
    return Effect.async<void>((resume) => {
      if (!response.writableNeedDrain || response.destroyed) return resume(Effect.void)
      let since = performance.now()
      const endWindow = () => {
        if (this.#readBytes < this.#slowest.bytes) return void response.destroy()
        this.#readBytes = 0
        this.#waitedMs = 0
        since = performance.now()
        timer = setTimeout(endWindow, this.#slowest.millis)
      }
      let timer = setTimeout(endWindow, Math.max(0, this.#slowest.millis - this.#waitedMs))
      const settle = () => {
        clearTimeout(timer)
        response.off("drain", settle).off("close", settle)
        this.#waitedMs += performance.now() - since
        this.#readBytes += bytes
        resume(Effect.void)
      }
      response.on("drain", settle).on("close", settle)
    })
  }
}
