import { deflateRawSync, inflateRawSync } from "node:zlib"

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
