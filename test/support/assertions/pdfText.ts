import { once } from "node:events"
import { MessageChannel, Worker } from "node:worker_threads"
import type { PDFPageProxy } from "pdfjs-dist"

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

/** A page as PDF.js describes it. */
interface RawPage extends Pick<PDFPageProxy, "view"> {
  readonly items: Awaited<ReturnType<PDFPageProxy["getTextContent"]>>["items"]
}

const toPage = ({ items, view }: RawPage): PdfPage => {
  const [, , width = 0, height = 0] = view
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

type Answer =
  | { readonly document: { readonly pages: ReadonlyArray<RawPage>; readonly info: object } }
  | { readonly error: string }

let startedReader: Worker | undefined

/**
 * PDF.js runs in a thread of its own, because it replaces builtins of its thread, such as JSON.parse, and adds those of
 * later versions of Node. The service under test must not have them.
 */
const startReader = () => {
  const reader = new Worker(new URL("./pdfReader.mjs", import.meta.url))
  reader.unref()
  return reader
}

/** What a person would read in a PDF document, and where. */
export const readPdf = async (file: Uint8Array) => {
  startedReader ??= startReader()
  const { port1, port2 } = new MessageChannel()
  const answered = once(port1, "message")
  startedReader.postMessage({ file, port: port2 }, [port2])
  const [answer] = (await answered) as [Answer] // what pdfReader.mjs sends
  if ("error" in answer) throw new Error(answer.error)
  const { info, pages } = answer.document
  return { pages: pages.map(toPage), info: { ...info } as Readonly<Record<string, unknown>> } // typed as a bare object
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
