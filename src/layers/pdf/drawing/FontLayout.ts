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

/** The part of PDFKit's font that lays out text as glyphs. */
export interface EmbeddedFont {
  readonly font: Font
  readonly scale: number
  readonly layoutCached: (text: string) => Run
  layout: (text: string) => Run
  widthOfString: (text: string, size: number) => number
}

/** Latin, Greek, Cyrillic and symbols: characters whose glyph does not depend on their neighbours. */
const isPlain = (text: string) => /^[\u0020-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u20cf\u2100-\u2bff]*$/.test(text)

/** Keeps characters together whose glyph depends on their neighbours. */
const clusters = /[\p{M}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Lao}]+|./gsu

/** Lays out plain characters one by one, without kerning and ligatures: fontkit's full layout is 100 times slower. */
export const simplifyLayout = (face: EmbeddedFont) => {
  const layOutCharacter = (character: string): Run => {
    const glyph = face.font.glyphForCodePoint(character.codePointAt(0) ?? 0)
    const advanceWidth = glyph.advanceWidth * face.scale
    const position = { xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0, advanceWidth }
    return { glyphs: [glyph], positions: [position], advanceWidth }
  }
  const runCache = new Map<string, Run>()
  const runOf = (cluster: string) => {
    const cached = runCache.get(cluster)
    if (cached !== undefined) return cached
    const run = isPlain(cluster) ? layOutCharacter(cluster) : face.layoutCached(cluster)
    runCache.set(cluster, run)
    return run
  }
  /** Cache of plain characters by code: an array lookup is much faster than a map of strings. */
  const plainRunCache: Array<Run | undefined> = []
  const plainRunOf = (text: string, index: number) => {
    const code = text.charCodeAt(index)
    plainRunCache[code] ??= layOutCharacter(text.charAt(index))
    return plainRunCache[code]
  }
  const runsOf = (text: string) => {
    if (!isPlain(text)) return (text.match(clusters) ?? []).map(runOf)
    const runs: Array<Run> = []
    for (let index = 0; index < text.length; index++) runs.push(plainRunOf(text, index))
    return runs
  }
  const widthOf = (text: string) => {
    let width = 0
    for (const run of runsOf(text)) width += run.advanceWidth
    return width
  }
  // Caches the last width, because PDFKit measures each text several times in a row.
  let lastMeasured = { text: "", width: 0 }
  const cachedWidthOf = (text: string) => {
    if (lastMeasured.text !== text) lastMeasured = { text, width: widthOf(text) }
    return lastMeasured.width
  }
  face.widthOfString = (text, size) => (cachedWidthOf(text) * size) / 1000
  face.layout = (text) => {
    const glyphs: Array<Glyph> = []
    const positions: Array<Position> = []
    for (const run of runsOf(text)) {
      glyphs.push(...run.glyphs)
      positions.push(...run.positions)
    }
    return { glyphs, positions, advanceWidth: cachedWidthOf(text) }
  }
}
