type WidthOf = (text: string) => number

/** Breaks a word that is wider than a line. */
const breakWord = (word: string, width: number, widthOf: WidthOf) => {
  const pieces: Array<string> = []
  let piece = ""
  let used = 0
  for (const character of word) {
    const added = widthOf(character)
    if (piece !== "" && used + added > width) {
      pieces.push(piece)
      piece = ""
      used = 0
    }
    piece += character
    used += added
  }
  return [...pieces, piece]
}

const wrapParagraph = (text: string, width: number, widthOf: WidthOf) => {
  const lines: Array<string> = []
  const space = widthOf(" ")
  let line = ""
  let used = 0
  for (const word of text.split(" ").filter((word) => word !== "")) {
    const added = widthOf(word)
    if (line !== "" && used + space + added <= width) {
      line += ` ${word}`
      used += space + added
    } else {
      if (line !== "") lines.push(line)
      const pieces = added <= width ? [word] : breakWord(word, width, widthOf)
      line = pieces.pop() ?? ""
      used = widthOf(line)
      lines.push(...pieces)
    }
  }
  return [...lines, line]
}

/** Line breaks of a text that are kept. Further ones become spaces, so that a text is hardly higher than it is long. */
export const maxLineBreaks = 40

const joinLastParagraphs = (paragraphs: ReadonlyArray<string>) =>
  paragraphs.length <= maxLineBreaks + 1
    ? paragraphs
    : [...paragraphs.slice(0, maxLineBreaks), paragraphs.slice(maxLineBreaks).join(" ")]

/** Wraps a text to lines of at most `width`. Leaves out empty lines. */
export const wrapLines = (text: string, width: number, widthOf: WidthOf): ReadonlyArray<string> => {
  const paragraphs = text.trim().split(/\s*\n\s*/)
  return joinLastParagraphs(paragraphs).flatMap((paragraph) => wrapParagraph(paragraph, width, widthOf))
}
