const fromRight = String.raw`\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}`

const pieces = new RegExp(`[${fromRight}\\p{M}]+|[^${fromRight}\\p{M} ]+| +`, "gu")
const letterFromRight = new RegExp(`[${fromRight}]`, "u")
const isFromRight = (piece: string) => letterFromRight.test(piece)
const isLetters = (piece: string) => /\p{L}/u.test(piece)

/** Pieces that are read in one direction; what has no letters goes with its surroundings. */
const runsOf = (parts: ReadonlyArray<string>, startsRight: boolean) => {
  const runs: Array<{ readonly right: boolean; readonly parts: Array<string> }> = []
  for (const [index, part] of parts.entries()) {
    const before = runs.at(-1)
    const next = parts.slice(index).find(isLetters)
    const nextRight = next === undefined ? startsRight : isFromRight(next)
    const right = isLetters(part) || before?.right === nextRight ? nextRight : startsRight
    if (before?.right === right) before.parts.push(part)
    else runs.push({ right, parts: [part] })
  }
  return runs
}

/** A line as it is seen from left to right, whichever way its words are read; the words themselves stay as they are. */
export const asSeen = (line: string) => {
  if (!isFromRight(line)) return line
  const parts = line.match(pieces) ?? []
  const startsRight = isFromRight(parts.find(isLetters) ?? "")
  const runs = runsOf(parts, startsRight).map(({ parts, right }) => (right ? parts.reverse() : parts).join(""))
  return (startsRight ? runs.reverse() : runs).join("")
}
