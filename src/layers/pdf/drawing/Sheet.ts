import PdfDocument from "pdfkit"
import type { Fonts } from "./Fonts.ts"
import { missing } from "./Fonts.ts"
import { ink, page, room } from "./Page.ts"

export interface TextOptions {
  readonly x: number
  readonly width: number
  readonly size?: number
  readonly bold?: boolean
  readonly faint?: boolean
  readonly align?: "left" | "right"
}

export interface Titles {
  readonly title: string
  readonly author: string
  /** Goes into the file as its date: the same invoice is the same bytes whenever it is drawn. */
  readonly date: Date
  /** In large letters across every page. */
  readonly mark: string | undefined
}

/** A document under the pen: where on the page we are, and the few things that are ever drawn. */
export class Sheet {
  private readonly pdf: PDFKit.PDFDocument
  private readonly fonts: Fonts
  private readonly titles: Titles
  private lacksCharacters = false
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
      // Its types know only paths; a font's bytes do as well, and its own default would need files of its own.
      font: fonts.regular as unknown as string
    })
    this.pdf.registerFont("regular", fonts.regular).registerFont("bold", fonts.bold)
    this.newPage()
  }

  newPage() {
    this.pdf.addPage()
    this.y = room.top
    if (this.titles.mark !== undefined) this.stamp(this.titles.mark)
  }

  private stamp(mark: string) {
    const { pdf } = this
    pdf.save().rotate(-52, { origin: [page.width / 2, page.height / 2] })
    pdf.font("bold").fontSize(150).fillColor(ink.mark).fillOpacity(0.16)
    pdf.text(mark, 0, page.height / 2 - 90, { width: page.width, align: "center", lineBreak: false })
    pdf.restore().fillOpacity(1)
  }

  private prepared(text: string, { bold = false, faint = false, size = 9 }: TextOptions) {
    const drawable = this.fonts.drawable(text)
    this.lacksCharacters ||= drawable.includes(missing) && !text.includes(missing)
    this.pdf
      .font(bold ? "bold" : "regular")
      .fontSize(size)
      .fillColor(faint ? ink.faint : ink.text)
    return drawable
  }

  heightOf(text: string, options: TextOptions) {
    return text === "" ? 0 : this.pdf.heightOfString(this.prepared(text, options), { width: options.width })
  }

  /** Writes at a height, or at the current one, and tells where it ended. */
  write(text: string, options: TextOptions, y = this.y) {
    const { align = "left", width, x } = options
    const drawable = this.prepared(text, options)
    if (drawable === "") return y
    this.pdf.text(drawable, x, y, { width, align })
    return this.pdf.y
  }

  rule(y = this.y) {
    this.pdf.moveTo(room.left, y).lineTo(room.right, y).lineWidth(0.6).strokeColor(ink.rule).stroke()
  }

  band(height: number) {
    this.pdf.rect(room.left, this.y, room.width, height).fill(ink.band)
  }

  fits(height: number) {
    return this.y + height <= room.bottom
  }

  private footers(left: string) {
    const { count } = this.pdf.bufferedPageRange()
    const note = this.lacksCharacters
      ? `${left}   ·   ${missing} stands for a character that cannot be shown here`
      : left
    for (let index = 0; index < count; index++) {
      this.pdf.switchToPage(index)
      const y = page.height - page.margin - 4
      const half = room.width * 0.75
      this.write(note, { x: room.left, width: half, size: 7, faint: true }, y)
      const place = `Page ${index + 1} of ${count}`
      this.write(place, { x: room.left + half, width: room.width - half, size: 7, faint: true, align: "right" }, y)
    }
  }

  /** The finished file. */
  finish(footer: string): Promise<Uint8Array> {
    this.footers(footer)
    return new Promise((resolve, reject) => {
      const chunks: Array<Uint8Array> = []
      this.pdf.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      this.pdf.on("end", () => resolve(new Uint8Array(Buffer.concat(chunks))))
      this.pdf.on("error", reject)
      this.pdf.end()
    })
  }
}
