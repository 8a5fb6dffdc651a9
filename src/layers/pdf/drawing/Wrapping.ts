type WidthOf = (text: string) => number

/** A word that is wider than a line, in pieces that are not. */
const brokenUp = (word: string, width: number, widthOf: WidthOf) => {
  const pieces: Array<string> = []
  let piece = ""
  let used = 0
  for (const character of word) {
    const more = widthOf(character)
    if (piece !== "" && used + more > width) {
      pieces.push(piece)
      piece = ""
      used = 0
    }
    piece += character
    used += more
  }
  return [...pieces, piece]
}

const wrappedParagraph = (text: string, width: number, widthOf: WidthOf) => {
  const lines: Array<string> = []
  const space = widthOf(" ")
  let line = ""
  let used = 0
  for (const word of text.split(" ").filter((word) => word !== "")) {
    const more = widthOf(word)
    if (line !== "" && used + space + more <= width) {
      line += ` ${word}`
      used += space + more
    } else {
      if (line !== "") lines.push(line)
      const pieces = more <= width ? [word] : brokenUp(word, width, widthOf)
      line = pieces.pop() ?? ""
      used = widthOf(line)
      lines.push(...pieces)
    }
  }
  return [...lines, line]
}

/** A text in lines no wider than `width`; between paragraphs there is one empty line at most. */
export const wrapped = (text: string, width: number, widthOf: WidthOf): ReadonlyArray<string> =>
  text
    .trim()
    .replace(/\s*\n(\s*\n)?\s*/g, (_, second) => (second === undefined ? "\n" : "\n\n"))
    .split("\n")
    .flatMap((paragraph) => wrappedParagraph(paragraph, width, widthOf))
