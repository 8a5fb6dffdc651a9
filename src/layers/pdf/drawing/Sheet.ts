import PdfDocument from "pdfkit"
import { FileBytes } from "./FileBytes.ts"
import type { Face, Fonts } from "./Fonts.ts"
import { missing } from "./Fonts.ts"
import { ink, inset, page, room } from "./Page.ts"
import { collectContent, type PageContent } from "./PageContent.ts"
import { asSeen } from "./Reading.ts"
import { type EmbeddedFont, simplifyLayout } from "./Shapes.ts"
import { wrapped } from "./Wrapping.ts"

export interface Style {
  readonly size: number
  readonly bold?: boolean
  readonly faint?: boolean
}

/** One line of text, ready to draw. */
export interface Line {
  readonly text: string
  readonly width: number
  readonly face: Face
  readonly style: Style
}

/** The distance between the baselines of two lines. */
export const leadingOf = ({ style }: Line) => style.size * 1.36
export const heightOf = (lines: ReadonlyArray<Line>) => lines.reduce((height, line) => height + leadingOf(line), 0)

export interface Titles {
  readonly title: string
  readonly author: string
  /** The date of the file. A fixed date makes the bytes reproducible. */
  readonly date: Date
  /** Watermark in large letters across every page. */
  readonly mark: string | undefined
  /** Faint background image of every page. */
  readonly background?: Buffer | undefined
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const footerStyle = { size: 7, faint: true } as const

/**
 * A PDF document with a vertical position `y` on the current page. Offers the few drawing operations that an invoice
 * needs.
 */
export class Sheet {
  private readonly pdf: PDFKit.PDFDocument
  private readonly fonts: Fonts
  private readonly titles: Titles
  private face: Face | undefined
  private readonly background: object | undefined
  private hasMissingGlyphs = false
  private content: PageContent | undefined
  y: number = room.top

  constructor(fonts: Fonts, titles: Titles) {
    this.fonts = fonts
    this.titles = titles
    const { author, date, title } = titles
    this.pdf = new PdfDocument({
      size: [page.width, page.height],
      margin: 0,
      bufferPages: true,
      autoFirstPage: false,
      lang: "en",
      info: { Title: title, Author: author, CreationDate: date, ModDate: date, Producer: "Contracting service" },
      // PDFKit's default font needs extra font files.
      font: ""
    })
    for (const face of ["bold", "regular"] as const) {
      this.pdf.registerFont(face, fonts.files[face])
      this.useFace(face)
      // PDFKit's types do not declare `_font`.
      simplifyLayout((this.pdf as unknown as { readonly _font: EmbeddedFont })._font)
    }
    this.background = titles.background && this.openImage(titles.background)
    this.newPage()
  }

  /** Embeds an image once for any number of pages. PDFKit's types do not declare `openImage`. */
  private openImage(image: Buffer) {
    return (this.pdf as unknown as { readonly openImage: (bytes: Buffer) => object }).openImage(image)
  }

  /** Scales an image to fit a box and aligns it left or right. */
  image(bytes: Buffer | undefined, box: Box, align: "left" | "right") {
    if (bytes === undefined) return
    this.pdf.image(bytes, box.x, box.y, {
      fit: [box.width, box.height],
      align: align === "right" ? "right" : undefined
    })
  }

  private drawBackground() {
    if (this.background === undefined) return
    this.pdf.save().fillOpacity(0.14)
    // PDFKit also accepts an opened image, but its types do not declare that.
    this.pdf.image(this.background as Buffer, 0, 0, {
      cover: [page.width, page.height],
      align: "center",
      valign: "center"
    })
    this.pdf.restore().fillOpacity(1)
  }

  newPage() {
    this.content?.pack()
    this.pdf.addPage()
    this.content = collectContent(this.pdf.page)
    this.y = room.top
    this.drawBackground()
    if (this.titles.mark !== undefined) this.drawWatermark(this.titles.mark)
  }

  private useFace(face: Face) {
    if (face !== this.face) this.pdf.font(face)
    this.face = face
  }

  private drawWatermark(mark: string) {
    const { pdf } = this
    const center = { x: page.width / 2, y: page.height / 2 }
    this.useFace("bold")
    pdf.fontSize(140)
    const x = center.x - pdf.widthOfString(mark) / 2
    pdf.save().rotate(-54, { origin: [center.x, center.y] })
    pdf.fillColor(ink.mark).fillOpacity(0.13)
    pdf.text(mark, x, center.y + 51, { lineBreak: false, baseline: "alphabetic" })
    pdf.restore().fillOpacity(1)
  }

  private toDrawable(text: string, style: Style) {
    const drawable = this.fonts.drawable(text, style.bold ? "bold" : "regular")
    this.hasMissingGlyphs ||= drawable.lacks
    this.useFace(drawable.face)
    this.pdf.fontSize(style.size)
    return drawable
  }

  /** Wraps a text to a width. An empty text has no lines. */
  lines(text: string, style: Style, width: number): ReadonlyArray<Line> {
    const drawable = this.toDrawable(text, style)
    if (drawable.text.trim() === "") return []
    const widthOf = (part: string) => this.pdf.widthOfString(part)
    return wrapped(drawable.text, width, widthOf).map((line) => ({
      text: asSeen(line),
      width: widthOf(line),
      face: drawable.face,
      style
    }))
  }

  /** A text as one line, truncated with an ellipsis to a width. */
  line(text: string, style: Style, width: number): Line {
    const singleLine = text.replace(/\s+/g, " ")
    const [whole, ...more] = this.lines(singleLine, style, width)
    if (whole !== undefined && more.length === 0) return whole
    const [truncated] = this.lines(
      singleLine,
      style,
      width - this.lines("…", style, width).reduce((sum, ellipsis) => sum + ellipsis.width, 0)
    )
    return truncated === undefined
      ? { text: "", width: 0, face: "regular", style }
      : { ...truncated, text: `${truncated.text.trimEnd()}…`, width }
  }

  /** A number is never truncated: the widest number determines the width of its column. */
  number(text: string, style: Style): Line {
    return this.line(text, style, Number.POSITIVE_INFINITY)
  }

  draw({ face, style, text }: Line, x: number, baseline: number) {
    if (text === "") return
    this.useFace(face)
    this.pdf.fontSize(style.size).fillColor(style.faint ? ink.faint : ink.text)
    this.pdf.text(text, x, baseline, { lineBreak: false, baseline: "alphabetic" })
  }

  drawRight(line: Line, right: number, baseline: number) {
    this.draw(line, right - line.width, baseline)
  }

  rule(y = this.y, left: number = room.left) {
    this.pdf.moveTo(left, y).lineTo(room.right, y).lineWidth(0.6).strokeColor(ink.rule).stroke()
  }

  band(height: number) {
    this.pdf.rect(room.left, this.y, room.width, height).fill(ink.band)
  }

  fits(height: number) {
    return this.y + height <= room.bottom
  }

  private drawFooters(text: string) {
    const { count } = this.pdf.bufferedPageRange()
    const left = this.line(text, footerStyle, room.width - 100)
    const note = this.line(`${missing} stands for a character that cannot be shown here`, footerStyle, room.width)
    const { hasMissingGlyphs } = this
    for (let index = 0; index < count; index++) {
      this.pdf.switchToPage(index)
      const y = room.bottom + inset + 10
      this.rule(room.bottom + inset)
      this.draw(left, room.left, y)
      this.drawRight(this.number(`Page ${index + 1} of ${count}`, footerStyle), room.right, y)
      if (hasMissingGlyphs) this.draw(note, room.left, y + 10)
    }
  }

  /** Finishes the file. Overrides `push`, because a stream would keep every chunk in memory until the end. */
  finish(footer: string): Promise<Uint8Array<ArrayBuffer>> {
    this.drawFooters(footer)
    const file = new FileBytes()
    file.append(this.pdf.read())
    return new Promise((resolve, reject) => {
      this.pdf.on("error", reject)
      // PDFKit still processes images with transparency when `end` returns.
      this.pdf.push = (chunk: Uint8Array | null) => {
        if (chunk === null) resolve(file.finish())
        else file.append(chunk)
        return true
      }
      this.pdf.end()
    })
  }
}
