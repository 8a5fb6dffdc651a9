const rtlScripts = String.raw`\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}`

const segments = new RegExp(`[${rtlScripts}\\p{M}]+|[^${rtlScripts}\\p{M} ]+| +`, "gu")
const rtlLetter = new RegExp(`[${rtlScripts}]`, "u")
const isRtl = (text: string) => rtlLetter.test(text)
const hasLetters = (text: string) => /\p{L}/u.test(text)

/** Groups segments into runs of one direction. A segment without letters joins the surrounding run. */
const runsOf = (parts: ReadonlyArray<string>, isRtlLine: boolean) => {
  const runs: Array<{ readonly isRtlRun: boolean; readonly parts: Array<string> }> = []
  for (const [index, part] of parts.entries()) {
    const previous = runs.at(-1)
    const next = parts.slice(index).find(hasLetters)
    const isNextRtl = next === undefined ? isRtlLine : isRtl(next)
    const isRtlRun = hasLetters(part) || previous?.isRtlRun === isNextRtl ? isNextRtl : isRtlLine
    if (previous?.isRtlRun === isRtlRun) previous.parts.push(part)
    else runs.push({ isRtlRun, parts: [part] })
  }
  return runs
}

/**
 * Reorders a line with right-to-left words to visual order, from left to right. The words themselves stay unchanged.
 */
export const toVisualOrder = (line: string) => {
  if (!isRtl(line)) return line
  const parts = line.match(segments) ?? []
  const isRtlLine = isRtl(parts.find(hasLetters) ?? "")
  const runs = runsOf(parts, isRtlLine).map(({ parts, isRtlRun }) => (isRtlRun ? parts.reverse() : parts).join(""))
  return (isRtlLine ? runs.reverse() : runs).join("")
}
