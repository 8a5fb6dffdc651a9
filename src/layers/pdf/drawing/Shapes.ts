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
  /** Of plain letters by their code, which is found much faster than the letter itself. */
  const plain: Array<Run | undefined> = []
  const plainRunOf = (text: string, index: number) => {
    const code = text.charCodeAt(index)
    plain[code] ??= single(text.charAt(index))
    return plain[code]
  }
  const runsOf = (text: string) => {
    if (!isPlain(text)) return (text.match(pieces) ?? []).map(runOf)
    const runs: Array<Run> = []
    for (let index = 0; index < text.length; index++) runs.push(plainRunOf(text, index))
    return runs
  }
  const widthOf = (text: string) => {
    let width = 0
    for (const run of runsOf(text)) width += run.advanceWidth
    return width
  }
  // Each text is measured several times in a row: for the page, for the end of the text, and as it is drawn.
  let measured = { text: "", width: 0 }
  const lastWidthOf = (text: string) => {
    if (measured.text !== text) measured = { text, width: widthOf(text) }
    return measured.width
  }
  face.widthOfString = (text, size) => (lastWidthOf(text) * size) / 1000
  face.layout = (text) => {
    const glyphs: Array<Glyph> = []
    const positions: Array<Position> = []
    for (const run of runsOf(text)) {
      glyphs.push(...run.glyphs)
      positions.push(...run.positions)
    }
    return { glyphs, positions, advanceWidth: lastWidthOf(text) }
  }
}
