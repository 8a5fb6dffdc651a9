import { getDocument, type PDFPageProxy } from "pdfjs-dist/legacy/build/pdf.mjs"

/** A piece of text on a page, measured in points from the page's upper left corner. */
export interface TextPiece {
  readonly text: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly baseline: number
}

export interface PdfPage {
  readonly width: number
  readonly height: number
  readonly pieces: ReadonlyArray<TextPiece>
  /** What is written across the page. */
  readonly marks: ReadonlyArray<string>
}

const round = (value: number) => Math.round(value * 100) / 100

const readPage = async (page: PDFPageProxy): Promise<PdfPage> => {
  const [, , width = 0, height = 0] = page.view
  const { items } = await page.getTextContent()
  const marks: Array<string> = []
  const pieces: Array<TextPiece> = []
  for (const item of items) {
    if (!("str" in item) || item.str.trim() === "") continue
    const [, slope, , size, left, up] = item.transform.map(Number)
    if (slope !== 0) marks.push(item.str)
    else if (size !== undefined && left !== undefined && up !== undefined) {
      const baseline = height - up
      pieces.push({
        text: item.str,
        left,
        right: left + item.width,
        top: baseline - size * 0.76,
        bottom: baseline + size * 0.24,
        baseline: round(baseline)
      })
    }
  }
  return { width: round(width), height: round(height), pieces, marks }
}

/** What a person would read in a PDF document, and where. */
export const readPdf = async (file: Uint8Array) => {
  // It takes the bytes for its own.
  const reading = getDocument({ data: file.slice(), verbosity: 0 })
  const document = await reading.promise
  const pages: Array<PdfPage> = []
  for (let number = 1; number <= document.numPages; number++) pages.push(await readPage(await document.getPage(number)))
  const { info } = await document.getMetadata()
  await reading.destroy()
  return { pages, info: { ...info } as Readonly<Record<string, unknown>> } // typed as a bare object
}

export const textsOf = ({ pieces }: PdfPage) => pieces.map(({ text }) => text)

/** The texts of a page line by line, each from left to right. */
export const rowsOf = ({ pieces }: PdfPage) => {
  const rows = new Map<number, Array<TextPiece>>()
  for (const piece of pieces) rows.set(piece.baseline, [...(rows.get(piece.baseline) ?? []), piece])
  return [...rows.entries()]
    .sort(([one], [other]) => one - other)
    .map(([, row]) => row.sort((one, other) => one.left - other.left).map(({ text }) => text))
}
