const maxReadBytes = 64 * 1024
const maxStoredBytes = 4 * 1024

/** The part of a receiver's response that has arrived so far. */
export class ResponseCapture {
  status: number | undefined
  retryAfter: string | undefined
  readonly #chunks: Array<Uint8Array> = []
  #size = 0

  start(status: number, retryAfter: string | ReadonlyArray<string> | undefined) {
    this.status = status
    this.retryAfter = typeof retryAfter === "string" ? retryAfter : retryAfter?.[0]
  }

  /** Appends a chunk. Returns false once the response exceeds the read limit. */
  append(chunk: Uint8Array) {
    if (this.#size < maxStoredBytes) this.#chunks.push(chunk)
    this.#size += chunk.length
    return this.#size <= maxReadBytes
  }

  /** The start of the body. PostgreSQL text cannot contain NUL; a character cut at the end is dropped. */
  get text() {
    const stored = Buffer.concat(this.#chunks).subarray(0, maxStoredBytes)
    return new TextDecoder().decode(stored, { stream: this.#size > maxStoredBytes }).replaceAll("\u0000", "")
  }
}
