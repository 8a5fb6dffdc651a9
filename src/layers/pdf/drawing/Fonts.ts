import { readFileSync } from "node:fs"
import { create, type Font } from "fontkit"

export type Face = "regular" | "bold"

/** What can be drawn of a text, and in which face. */
export interface Drawable {
  readonly text: string
  readonly face: Face
  /** Whether a square stands for a character that cannot be drawn. */
  readonly lacks: boolean
}

/** Of DejaVu, which is free to use, change and pass on, and covers Latin, Greek, Cyrillic and more. */
export interface Fonts {
  readonly files: Readonly<Record<Face, Buffer>>
  readonly drawable: (text: string, face: Face) => Drawable
}

/** Drawn in place of a character no font here has. The fonts have this one. */
export const missing = "□"

/** What steers a text and is not seen itself. */
const unseen = /[^\P{Cc}\n]|\p{Cf}/gu

const cleaned = (text: string) =>
  text
    .normalize("NFC")
    .replace(/\r\n?|\u2028|\u2029/g, "\n")
    .replace(/[^\S\n]/g, " ")
    .replace(unseen, "")

/** Most texts, and every number; both faces have all of it. */
const isAscii = (text: string) => /^[\n -~]*$/.test(text)

const isSingle = (font: ReturnType<typeof create>): font is Font => "hasGlyphForCodePoint" in font

/** Tells whether a font has a character. Most are asked for again and again. */
const knowledgeOf = (file: Buffer) => {
  const font = create(file)
  if (!isSingle(font)) throw new Error("A collection of fonts is not a font")
  const known = new Map([["\n", true]])
  return (character: string) => {
    const told = known.get(character)
    if (told !== undefined) return told
    const has = font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
    known.set(character, has)
    return has
  }
}

export const loadFonts = (folder: URL): Fonts => {
  const files = {
    regular: readFileSync(new URL("DejaVuSans.ttf", folder)),
    bold: readFileSync(new URL("DejaVuSans-Bold.ttf", folder))
  }
  const inRegular = knowledgeOf(files.regular)
  const inBold = knowledgeOf(files.bold)
  return {
    files,
    drawable: (text, face) => {
      if (isAscii(text)) return { text, face, lacks: false }
      const characters = Array.from(cleaned(text))
      // The bold face has fewer characters: a text it lacks some of is better read than bold.
      const isBold = face === "bold" && characters.every((character) => inBold(character) || !inRegular(character))
      const known = isBold ? inBold : inRegular
      const lacks = !characters.every(known)
      return {
        text: characters.map((character) => (known(character) ? character : missing)).join(""),
        face: isBold ? "bold" : "regular",
        lacks
      }
    }
  }
}
