import { readFileSync } from "node:fs"
import { openFont } from "./FontLayout.ts"

export type FontFace = "regular" | "bold"

/** A text that a face can draw completely. */
export interface DrawableText {
  readonly text: string
  readonly face: FontFace
  /** Whether `missing` replaces a character without a glyph. */
  readonly hasMissingGlyphs: boolean
}

/** The DejaVu fonts. Their license is free, and they cover Latin, Greek, Cyrillic and more. */
export interface Fonts {
  readonly files: Readonly<Record<FontFace, Buffer>>
  readonly toDrawable: (text: string, face: FontFace) => DrawableText
}

/** Replaces a character without a glyph. Both faces have this one. */
export const missingGlyph = "□"

/** Control and format characters, which are invisible. */
const controlCharacters = /[^\P{Cc}\n]|\p{Cf}/gu

const normalizeText = (text: string) =>
  text
    .normalize("NFC")
    .replace(/\r\n?|\u2028|\u2029/g, "\n")
    // The narrow space groups the digits of French numbers, where no line may break.
    .replace(/[^\S\n\u202f]/g, " ")
    .replace(controlCharacters, "")

/** Fast path: most texts are ASCII, and both faces have all of it. */
const isAscii = (text: string) => /^[\n -~]*$/.test(text)

/** Makes a predicate that tells whether a font has a glyph for a character. Caches the answers. */
const makeGlyphLookup = (file: Buffer) => {
  const font = openFont(file)
  const cache = new Map([["\n", true]])
  return (character: string) => {
    const cached = cache.get(character)
    if (cached !== undefined) return cached
    const hasGlyph = font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
    cache.set(character, hasGlyph)
    return hasGlyph
  }
}

export const loadFonts = (folder: URL): Fonts => {
  const files = {
    regular: readFileSync(new URL("DejaVuSans.ttf", folder)),
    bold: readFileSync(new URL("DejaVuSans-Bold.ttf", folder))
  }
  const hasRegularGlyph = makeGlyphLookup(files.regular)
  const hasBoldGlyph = makeGlyphLookup(files.bold)
  return {
    files,
    toDrawable: (text, face) => {
      if (isAscii(text)) return { text, face, hasMissingGlyphs: false }
      const characters = Array.from(normalizeText(text))
      // The bold face has fewer glyphs. A readable regular text is better than a bold one with missing glyphs.
      const isBold =
        face === "bold" && characters.every((character) => hasBoldGlyph(character) || !hasRegularGlyph(character))
      const hasGlyph = isBold ? hasBoldGlyph : hasRegularGlyph
      const hasMissingGlyphs = !characters.every(hasGlyph)
      return {
        text: characters.map((character) => (hasGlyph(character) ? character : missingGlyph)).join(""),
        face: isBold ? "bold" : "regular",
        hasMissingGlyphs
      }
    }
  }
}
