import { readFileSync } from "node:fs"
import { create, type Font } from "fontkit"

/** Of DejaVu, which is free to use, change and pass on, and covers Latin, Greek, Cyrillic and more. */
export interface Fonts {
  readonly regular: Buffer
  readonly bold: Buffer
  /** What can be drawn of a text; a square stands for each character that cannot. */
  readonly drawable: (text: string) => string
}

/** Drawn in place of a character no font here has. The fonts have this one. */
export const missing = "□"

/** What steers a text and is not seen itself. */
const unseen = /[\p{Cc}\p{Cf}]/u

const isSingle = (font: ReturnType<typeof create>): font is Font => "hasGlyphForCodePoint" in font

export const loadFonts = (folder: URL): Fonts => {
  const regular = readFileSync(new URL("DejaVuSans.ttf", folder))
  const bold = readFileSync(new URL("DejaVuSans-Bold.ttf", folder))
  const faces = [regular, bold].map((bytes) => create(bytes)).filter(isSingle)
  const known = (character: string) => faces.every((face) => face.hasGlyphForCodePoint(character.codePointAt(0) ?? 0))
  return {
    regular,
    bold,
    drawable: (text) =>
      Array.from(text.replace(/\r\n?|\u2028|\u2029/g, "\n"), (character) => {
        if (character === "\n") return character
        if (/\s/.test(character)) return " "
        if (unseen.test(character)) return ""
        return known(character) ? character : missing
      }).join("")
  }
}
