/** A growing byte buffer. Copies each chunk, because a chunk can be tiny or a view on a much larger buffer. */
export class GrowableBuffer {
  private bytes = new Uint8Array(64 * 1024)
  private length = 0

  append(chunk: Uint8Array) {
    const length = this.length + chunk.length
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.bytes.length))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.bytes.set(chunk, this.length)
    this.length = length
  }

  /** Copies the content to a buffer of its exact size. */
  toBytes() {
    return this.bytes.slice(0, this.length)
  }
}
