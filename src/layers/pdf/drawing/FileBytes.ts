/** A file that grows at its end. Each part is copied: a part may be tiny, or a view on a much larger buffer. */
export class FileBytes {
  private bytes = new Uint8Array(64 * 1024)
  private length = 0

  append(part: Uint8Array) {
    const length = this.length + part.length
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.bytes.length))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    this.bytes.set(part, this.length)
    this.length = length
  }

  /** All of it, in a buffer of its own. */
  finish() {
    return this.bytes.slice(0, this.length)
  }
}
