import { deflateRawSync, inflateRawSync } from "node:zlib"

export interface PageContent {
  /** Compresses what is on the page. More can be drawn afterwards. */
  readonly pack: () => void
}

/**
 * Collects what is drawn on a page. PDFKit would keep a typed array per instruction until the document ends, which is over
 * a gigabyte for an invoice of 20 000 lines; here a finished page is kept compressed until the footers are drawn on it.
 */
export const collectContent = (page: PDFKit.PDFPage): PageContent => {
  const packed: Array<Buffer> = []
  let text = ""
  const end = page.end.bind(page)
  page.write = (instruction: string | number) => {
    text += `${instruction}\n`
  }
  page.end = () => {
    page.content.write(Buffer.concat([...packed.map((part) => inflateRawSync(part)), Buffer.from(text, "latin1")]))
    end()
  }
  return {
    pack: () => {
      // Copied, since the result of zlib is a view on a much larger buffer.
      packed.push(Buffer.from(deflateRawSync(Buffer.from(text, "latin1"), { level: 1 })))
      text = ""
    }
  }
}
