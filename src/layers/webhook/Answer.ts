const mostRead = 64 * 1024
const mostKept = 4 * 1024

/** What a receiver has answered so far. */
export class Answer {
  status: number | undefined
  retryAfter: string | undefined
  readonly #pieces: Array<Uint8Array> = []
  #size = 0

  begin(status: number, retryAfter: string | ReadonlyArray<string> | undefined) {
    this.status = status
    this.retryAfter = typeof retryAfter === "string" ? retryAfter : retryAfter?.[0]
  }

  /** Takes a piece and tells whether more may come. */
  take(piece: Uint8Array) {
    if (this.#size < mostKept) this.#pieces.push(piece)
    this.#size += piece.length
    return this.#size <= mostRead
  }

  /** The beginning, as text that PostgreSQL can hold; a character cut in two at its end is left out. */
  get text() {
    const kept = Buffer.concat(this.#pieces).subarray(0, mostKept)
    return new TextDecoder().decode(kept, { stream: this.#size > mostKept }).replaceAll("\u0000", "")
  }
}
