import PdfDocument from "pdfkit"
import type { DocumentLocale } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import { toVisualOrder } from "./BidiText.ts"
import { archiveOptions, attachEInvoice } from "./FacturX.ts"
import { openSimpleFont } from "./FontLayout.ts"
import { type FontFace, type Fonts, missingGlyph } from "./Fonts.ts"
import { bufferPageContent, GrowableBuffer, type PageContent } from "./PageBuffers.ts"
import { a4Page, contentArea, inset, pageColors } from "./PageGeometry.ts"
import { wrapLines } from "./TextWrapping.ts"

export interface TextStyle {
  readonly size: number
  readonly bold?: boolean
  readonly faint?: boolean
}

/** One line of text, ready to draw. */
export interface TextLine {
  readonly text: string
  readonly width: number
  readonly face: FontFace
  readonly style: TextStyle
}

/** The distance between the baselines of two lines. */
export const leadingOf = ({ style }: TextLine) => style.size * 1.36
export const heightOf = (lines: ReadonlyArray<TextLine>) => lines.reduce((height, line) => height + leadingOf(line), 0)

export interface DocumentOptions {
  readonly locale: DocumentLocale
  readonly title: string
  readonly author: string
  /** The date of the file. A fixed date makes the bytes reproducible. */
  readonly date: Date
  /** Watermark in large letters across every page. */
  readonly watermark: string | undefined
  /** Faint background image of every page. */
  readonly background?: Buffer | undefined
  /** The XML that makes the file a hybrid. */
  readonly eInvoice?: Uint8Array | undefined
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const watermarkSize = 140
/** Most of the diagonal of the page. */
const maxWatermarkWidth = 760

const footerStyle = { size: 7, faint: true } as const

/**
 * A PDF document with a vertical position `y` on the current page. Offers the few drawing operations that an invoice
 * needs.
 */
export class PdfCanvas {
  private readonly pdf: PDFKit.PDFDocument
  private readonly fonts: Fonts
  private readonly titles: DocumentOptions
  readonly locale: DocumentLocale
  private face: FontFace | undefined
  private readonly background: string | undefined
  private hasMissingGlyphs = false
  private content: PageContent | undefined
  y: number = contentArea.top

  constructor(fonts: Fonts, titles: DocumentOptions) {
    this.fonts = fonts
    this.titles = titles
    this.locale = titles.locale
    const { author, date, eInvoice, title } = titles
    this.pdf = new PdfDocument({
      ...(eInvoice === undefined ? {} : archiveOptions),
      size: [a4Page.width, a4Page.height],
      margin: 0,
      bufferPages: true,
      autoFirstPage: false,
      lang: this.locale.language,
      info: { Title: title, Author: author, CreationDate: date, ModDate: date, Producer: "Contracting service" },
      // PDFKit's default font needs extra font files.
      font: ""
    })
    if (eInvoice !== undefined) attachEInvoice(this.pdf, eInvoice, { author, date, title })
    for (const face of ["bold", "regular"] as const) {
      // PDFKit also takes a font of fontkit, but its types do not say so.
      this.pdf.registerFont(face, openSimpleFont(fonts.files[face]) as unknown as Buffer)
    }
    // PDFKit embeds an image once for any number of pages if its source is a text.
    this.background = titles.background && `data:image/png;base64,${titles.background.toString("base64")}`
    this.newPage()
  }

  /** Scales an image to fit a box and aligns it left or right. */
  drawImage(bytes: Buffer | undefined, box: Box, align: "left" | "right") {
    if (bytes === undefined) return
    this.pdf.image(bytes, box.x, box.y, {
      fit: [box.width, box.height],
      align: align === "right" ? "right" : undefined
    })
  }

  private drawBackground() {
    if (this.background === undefined) return
    this.pdf.save().fillOpacity(0.14)
    this.pdf.image(this.background, 0, 0, {
      cover: [a4Page.width, a4Page.height],
      align: "center",
      valign: "center"
    })
    this.pdf.restore().fillOpacity(1)
  }

  newPage() {
    this.content?.compress()
    this.pdf.addPage()
    this.content = bufferPageContent(this.pdf.page)
    this.y = contentArea.top
    this.drawBackground()
    if (this.titles.watermark !== undefined) this.drawWatermark(this.titles.watermark)
  }

  private useFace(face: FontFace) {
    if (face !== this.face) this.pdf.font(face)
    this.face = face
  }

  private drawWatermark(mark: string) {
    const { pdf } = this
    const center = { x: a4Page.width / 2, y: a4Page.height / 2 }
    this.useFace("bold")
    pdf.fontSize(watermarkSize)
    const size = watermarkSize * Math.min(1, maxWatermarkWidth / pdf.widthOfString(mark))
    pdf.fontSize(size)
    const x = center.x - pdf.widthOfString(mark) / 2
    pdf.save().rotate(-54, { origin: [center.x, center.y] })
    pdf.fillColor(pageColors.watermark).fillOpacity(0.13)
    pdf.text(mark, x, center.y + (51 * size) / watermarkSize, { lineBreak: false, baseline: "alphabetic" })
    pdf.restore().fillOpacity(1)
  }

  private toDrawable(text: string, style: TextStyle) {
    const drawable = this.fonts.toDrawable(text, style.bold ? "bold" : "regular")
    this.hasMissingGlyphs ||= drawable.hasMissingGlyphs
    this.useFace(drawable.face)
    this.pdf.fontSize(style.size)
    return drawable
  }

  /** Wraps a text to a width. An empty text has no lines. */
  wrapText(text: string, style: TextStyle, width: number): ReadonlyArray<TextLine> {
    const drawable = this.toDrawable(text, style)
    if (drawable.text.trim() === "") return []
    const widthOf = (part: string) => this.pdf.widthOfString(part)
    return wrapLines(drawable.text, width, widthOf).map((line) => ({
      text: toVisualOrder(line),
      width: widthOf(line),
      face: drawable.face,
      style
    }))
  }

  /** A text as one line, truncated with an ellipsis to a width. */
  truncateText(text: string, style: TextStyle, width: number): TextLine {
    const singleLine = text.replace(/[^\S\u202f]+/g, " ")
    const [whole, ...more] = this.wrapText(singleLine, style, width)
    if (whole !== undefined && more.length === 0) return whole
    const [truncated] = this.wrapText(
      singleLine,
      style,
      width - this.wrapText("…", style, width).reduce((sum, ellipsis) => sum + ellipsis.width, 0)
    )
    return truncated === undefined
      ? { text: "", width: 0, face: "regular", style }
      : { ...truncated, text: `${truncated.text.trimEnd()}…`, width }
  }

  /** A number is never truncated: the widest number determines the width of its column. */
  layOutLine(text: string, style: TextStyle): TextLine {
    return this.truncateText(text, style, Number.POSITIVE_INFINITY)
  }

  /** A text as one line in the first of the sizes that fits a width; in the last one, it can take more lines. */
  fitText(text: string, style: TextStyle, sizes: ReadonlyArray<number>, width: number): ReadonlyArray<TextLine> {
    const size = sizes.find((size) => this.layOutLine(text, { ...style, size }).width <= width) ?? sizes.at(-1)
    return this.wrapText(text, { ...style, size: size ?? style.size }, width)
  }

  drawText({ face, style, text }: TextLine, x: number, baseline: number) {
    if (text === "") return
    this.useFace(face)
    this.pdf.fontSize(style.size).fillColor(style.faint ? pageColors.faint : pageColors.text)
    this.pdf.text(text, x, baseline, { lineBreak: false, baseline: "alphabetic" })
  }

  drawTextRight(line: TextLine, right: number, baseline: number) {
    this.drawText(line, right - line.width, baseline)
  }

  drawRule(y = this.y, left: number = contentArea.left) {
    this.pdf.moveTo(left, y).lineTo(contentArea.right, y).lineWidth(0.6).strokeColor(pageColors.rule).stroke()
  }

  drawBand(height: number) {
    this.pdf.rect(contentArea.left, this.y, contentArea.width, height).fill(pageColors.band)
  }

  hasRoom(height: number) {
    return this.y + height <= contentArea.bottom
  }

  private drawFooters(text: string) {
    const { count } = this.pdf.bufferedPageRange()
    const left = this.truncateText(text, footerStyle, contentArea.width - 100)
    const note = this.truncateText(this.locale.texts.missingGlyph(missingGlyph), footerStyle, contentArea.width)
    const { hasMissingGlyphs } = this
    for (let index = 0; index < count; index++) {
      this.pdf.switchToPage(index)
      const y = contentArea.bottom + inset + 10
      this.drawRule(contentArea.bottom + inset)
      this.drawText(left, contentArea.left, y)
      this.drawTextRight(this.layOutLine(this.locale.texts.page(index + 1, count), footerStyle), contentArea.right, y)
      if (hasMissingGlyphs) this.drawText(note, contentArea.left, y + 10)
    }
  }

  /** Finishes the file. Overrides `push`, because a stream would keep every chunk in memory until the end. */
  finish(footer: string): Promise<Uint8Array<ArrayBuffer>> {
    this.drawFooters(footer)
    const file = new GrowableBuffer()
    // Since Node 26, `read` returns one buffered chunk at a time.
    for (let chunk = this.pdf.read(); chunk !== null; chunk = this.pdf.read()) file.append(chunk)
    return new Promise((resolve, reject) => {
      this.pdf.on("error", reject)
      // PDFKit still processes images with transparency when `end` returns.
      this.pdf.push = (chunk: Uint8Array | null) => {
        if (chunk === null) resolve(file.toBytes())
        else file.append(chunk)
        return true
      }
      this.pdf.end()
    })
  }
}
