import { deflateRawSync, inflateRawSync } from "node:zlib"

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

export interface PageContent {
  /** Compresses the content so far. The page accepts more content afterwards. */
  readonly compress: () => void
}

/**
 * Buffers the content of a page. PDFKit itself keeps a typed array per instruction until the document ends, which is
 * over 1 GB for an invoice with 20 000 lines. Here a finished page stays compressed until the footers are drawn.
 */
export const bufferPageContent = (page: PDFKit.PDFPage): PageContent => {
  const compressed: Array<Buffer> = []
  let text = ""
  const end = page.end.bind(page)
  page.write = (instruction: string | number) => {
    text += `${instruction}\n`
  }
  page.end = () => {
    page.content.write(Buffer.concat([...compressed.map((part) => inflateRawSync(part)), Buffer.from(text, "latin1")]))
    end()
  }
  return {
    compress: () => {
      // Copies the result, because zlib returns a view on a much larger buffer.
      compressed.push(Buffer.from(deflateRawSync(Buffer.from(text, "latin1"), { level: 1 })))
      text = ""
    }
  }
}
