import { create, type Font, type Glyph } from "fontkit"

interface Position {
  readonly xAdvance: number
  readonly yAdvance: number
  readonly xOffset: number
  readonly yOffset: number
}

/** Latin, Greek, Cyrillic and symbols: characters whose glyph does not depend on their neighbours. */
const isPlain = (text: string) => /^[\u0020-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u20cf\u2100-\u2bff]*$/.test(text)

/** Keeps characters together whose glyph depends on their neighbours. */
const clusters = /[\p{M}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Lao}]+|./gsu

/** The layout of a text. PDFKit scales the positions in place, and reads the width afterwards. */
class TextRun {
  readonly glyphs: Array<Glyph> = []
  readonly positions: Array<Position> = []

  add(glyph: Glyph, position: Position) {
    this.glyphs.push(glyph)
    this.positions.push(position)
  }

  get advanceWidth() {
    let width = 0
    for (const { xAdvance } of this.positions) width += xAdvance
    return width
  }
}

const isSingleFont = (font: ReturnType<typeof create>): font is Font => "hasGlyphForCodePoint" in font

export const openFont = (file: Buffer): Font => {
  const font = create(file)
  if (!isSingleFont(font)) throw new Error("The font file is a collection, not a single font")
  return font
}

/** Opens a font that lays out plain characters one by one, without kerning and ligatures: 100 times faster than fontkit. */
export const openSimpleFont = (file: Buffer) => {
  const font = openFont(file)
  const layOutFully = font.layout.bind(font)

  const addCluster = (run: TextRun, cluster: string) => {
    if (isPlain(cluster)) {
      const glyph = font.glyphForCodePoint(cluster.codePointAt(0) ?? 0)
      return run.add(glyph, { xAdvance: glyph.advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 })
    }
    const { glyphs, positions } = layOutFully(cluster)
    for (const [index, glyph] of glyphs.entries()) {
      const position = positions[index]
      if (position !== undefined) run.add(glyph, position)
    }
  }

  const layout = (text: string) => {
    const run = new TextRun()
    for (const cluster of isPlain(text) ? text : (text.match(clusters) ?? [])) addCluster(run, cluster)
    return run
  }
  return Object.assign(font, { layout })
}
