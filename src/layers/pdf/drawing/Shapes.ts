import type { Font, Glyph } from "fontkit"

interface Position {
  readonly xAdvance: number
  readonly yAdvance: number
  readonly xOffset: number
  readonly yOffset: number
  readonly advanceWidth: number
}

interface Run {
  readonly glyphs: ReadonlyArray<Glyph>
  readonly positions: ReadonlyArray<Position>
  readonly advanceWidth: number
}

/** The part of PDFKit's font that decides which shapes a text is drawn with. */
export interface EmbeddedFont {
  readonly font: Font
  readonly scale: number
  readonly layoutCached: (text: string) => Run
  layout: (text: string) => Run
  widthOfString: (text: string, size: number) => number
}

/** Latin, Greek, Cyrillic and signs: letters that look the same whatever stands beside them. */
const isPlain = (text: string) => /^[\u0020-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u20cf\u2100-\u2bff]*$/.test(text)

/** Letters whose shape depends on their neighbours stay together. */
const pieces = /[\p{M}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Lao}]+|./gsu

const piecesOf = (text: string): Iterable<string> => (isPlain(text) ? text : (text.match(pieces) ?? []))

/** Draws letters one by one where it can: asking the font for its rules on pairs takes a hundred times as long. */
export const simplifyLayout = (face: EmbeddedFont) => {
  const single = (character: string): Run => {
    const glyph = face.font.glyphForCodePoint(character.codePointAt(0) ?? 0)
    const advanceWidth = glyph.advanceWidth * face.scale
    const position = { xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0, advanceWidth }
    return { glyphs: [glyph], positions: [position], advanceWidth }
  }
  const known = new Map<string, Run>()
  const runOf = (piece: string) => {
    const told = known.get(piece)
    if (told !== undefined) return told
    const run = isPlain(piece) ? single(piece) : face.layoutCached(piece)
    known.set(piece, run)
    return run
  }
  const widthOf = (text: string) => {
    let width = 0
    for (const piece of piecesOf(text)) width += runOf(piece).advanceWidth
    return width
  }
  face.widthOfString = (text, size) => (widthOf(text) * size) / 1000
  face.layout = (text) => {
    const glyphs: Array<Glyph> = []
    const positions: Array<Position> = []
    for (const piece of piecesOf(text)) {
      const run = runOf(piece)
      glyphs.push(...run.glyphs)
      positions.push(...run.positions)
    }
    return { glyphs, positions, advanceWidth: widthOf(text) }
  }
}
