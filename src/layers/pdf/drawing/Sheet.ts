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

/** One line of text, ready to be drawn. */
export interface Line {
  readonly text: string
  readonly width: number
  readonly face: Face
  readonly style: Style
}

/** From a line to the next of the same text. */
export const leadingOf = ({ style }: Line) => style.size * 1.36
export const heightOf = (lines: ReadonlyArray<Line>) => lines.reduce((height, line) => height + leadingOf(line), 0)

export interface Titles {
  readonly title: string
  readonly author: string
  /** Goes into the file as its date: the same invoice is the same bytes whenever it is drawn. */
  readonly date: Date
  /** In large letters across every page. */
  readonly mark: string | undefined
  /** Behind everything on every page, faintly. */
  readonly background?: Buffer | undefined
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const small = { size: 7, faint: true } as const

/** A document under the pen: where on the page we are, and the few things that are ever drawn. */
export class Sheet {
  private readonly pdf: PDFKit.PDFDocument
  private readonly fonts: Fonts
  private readonly titles: Titles
  private face: Face | undefined
  private readonly background: object | undefined
  private lacksCharacters = false
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
      // Its own default would need files of its own.
      font: ""
    })
    for (const face of ["bold", "regular"] as const) {
      this.pdf.registerFont(face, fonts.files[face])
      this.use(face)
      // Its types leave out the font in use.
      simplifyLayout((this.pdf as unknown as { readonly _font: EmbeddedFont })._font)
    }
    this.background = titles.background && this.opened(titles.background)
    this.newPage()
  }

  /** Put into the file once, however often it is drawn. The types leave this out. */
  private opened(image: Buffer) {
    return (this.pdf as unknown as { readonly openImage: (bytes: Buffer) => object }).openImage(image)
  }

  /** An image within a box, as large as fits, at its left or right. */
  image(bytes: Buffer | undefined, box: Box, align: "left" | "right") {
    if (bytes === undefined) return
    this.pdf.image(bytes, box.x, box.y, {
      fit: [box.width, box.height],
      align: align === "right" ? "right" : undefined
    })
  }

  private paper() {
    if (this.background === undefined) return
    this.pdf.save().fillOpacity(0.14)
    // What was opened can be given in place of a file, which the types do not know.
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
    this.paper()
    if (this.titles.mark !== undefined) this.stamp(this.titles.mark)
  }

  private use(face: Face) {
    if (face !== this.face) this.pdf.font(face)
    this.face = face
  }

  private stamp(mark: string) {
    const { pdf } = this
    const middle = { x: page.width / 2, y: page.height / 2 }
    this.use("bold")
    pdf.fontSize(140)
    const x = middle.x - pdf.widthOfString(mark) / 2
    pdf.save().rotate(-54, { origin: [middle.x, middle.y] })
    pdf.fillColor(ink.mark).fillOpacity(0.13)
    pdf.text(mark, x, middle.y + 51, { lineBreak: false, baseline: "alphabetic" })
    pdf.restore().fillOpacity(1)
  }

  private drawable(text: string, style: Style) {
    const drawable = this.fonts.drawable(text, style.bold ? "bold" : "regular")
    this.lacksCharacters ||= drawable.lacks
    this.use(drawable.face)
    this.pdf.fontSize(style.size)
    return drawable
  }

  /** A text in lines that fit a width; none for an empty text. */
  lines(text: string, style: Style, width: number): ReadonlyArray<Line> {
    const drawable = this.drawable(text, style)
    if (drawable.text.trim() === "") return []
    const widthOf = (part: string) => this.pdf.widthOfString(part)
    return wrapped(drawable.text, width, widthOf).map((line) => ({
      text: asSeen(line),
      width: widthOf(line),
      face: drawable.face,
      style
    }))
  }

  /** A text in one line; what a width has no room for is left out. */
  line(text: string, style: Style, width: number): Line {
    const flat = text.replace(/\s+/g, " ")
    const [whole, ...more] = this.lines(flat, style, width)
    if (whole !== undefined && more.length === 0) return whole
    const [cut] = this.lines(
      flat,
      style,
      width - this.lines("…", style, width).reduce((sum, dots) => sum + dots.width, 0)
    )
    return cut === undefined
      ? { text: "", width: 0, face: "regular", style }
      : { ...cut, text: `${cut.text.trimEnd()}…`, width }
  }

  /** Numbers are never wrapped: the widest decides how wide its column is. */
  number(text: string, style: Style): Line {
    return this.line(text, style, Number.POSITIVE_INFINITY)
  }

  draw({ face, style, text }: Line, x: number, baseline: number) {
    if (text === "") return
    this.use(face)
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

  private footers(text: string) {
    const { count } = this.pdf.bufferedPageRange()
    const left = this.line(text, small, room.width - 100)
    const note = this.line(`${missing} stands for a character that cannot be shown here`, small, room.width)
    const { lacksCharacters } = this
    for (let index = 0; index < count; index++) {
      this.pdf.switchToPage(index)
      const y = room.bottom + inset + 10
      this.rule(room.bottom + inset)
      this.draw(left, room.left, y)
      this.drawRight(this.number(`Page ${index + 1} of ${count}`, small), room.right, y)
      if (lacksCharacters) this.draw(note, room.left, y + 10)
    }
  }

  /** The finished file. Its parts are taken as they are made: a stream would keep each of them until the last. */
  finish(footer: string): Promise<Uint8Array<ArrayBuffer>> {
    this.footers(footer)
    const file = new FileBytes()
    file.append(this.pdf.read())
    return new Promise((resolve, reject) => {
      this.pdf.on("error", reject)
      // Images with transparency are still being taken apart when `end` returns.
      this.pdf.push = (part: Uint8Array | null) => {
        if (part === null) resolve(file.finish())
        else file.append(part)
        return true
      }
      this.pdf.end()
    })
  }
}
