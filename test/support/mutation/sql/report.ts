import type { Mutant } from "./findMutants.ts"

export type Outcome = "killed" | "lived" | "unreached"

export interface Verdict {
  readonly mutant: Mutant
  readonly outcome: Outcome
}

export const describeVerdict = ({ mutant: { after, before, line, template }, outcome }: Verdict) =>
  `${template.file}:${line}${outcome === "unreached" ? " (no test runs it)" : ""}\n    ${before}\n  → ${after}`

/** How many percent of the mutants the tests detect. */
export const scoreOf = (verdicts: ReadonlyArray<Verdict>) =>
  (100 * verdicts.filter(({ outcome }) => outcome === "killed").length) / verdicts.length

const rowOf = (name: string, verdicts: ReadonlyArray<Verdict>, width: number) => {
  const lived = verdicts.filter(({ outcome }) => outcome !== "killed").length
  const cells = [scoreOf(verdicts).toFixed(1), String(verdicts.length), String(lived)]
  return `${name.padEnd(width)}${cells.map((cell) => cell.padStart(9)).join("")}`
}

/** A table of the scores of files. */
export const formatScores = (verdicts: ReadonlyArray<Verdict>) => {
  const files = [...new Set(verdicts.map(({ mutant }) => mutant.template.file))]
  const width = Math.max(...files.map((file) => file.length))
  return [
    `${"".padEnd(width)}${["score", "mutants", "lived"].map((title) => title.padStart(9)).join("")}`,
    ...files.map((file) =>
      rowOf(
        file,
        verdicts.filter(({ mutant }) => mutant.template.file === file),
        width
      )
    ),
    rowOf("all", verdicts, width)
  ].join("\n")
}
