import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import { projectRoot } from "../../../../tools/local/ProjectRoot.ts"
import { type Edits, mutantsOf } from "./mutants.ts"
import { findTemplates, type SqlTemplate } from "./templates.ts"

/** A mutant of a statement in a file. */
export interface Mutant {
  readonly template: SqlTemplate
  readonly edits: Edits
  readonly line: number
  readonly before: string
  readonly after: string
}

/** How many characters around a change are shown. */
const shown = 32

const describe = (source: string, { parts, starts }: SqlTemplate, edits: Edits) => {
  const placed = edits.map(({ from, part, text, to }) => {
    const start = starts[part] ?? 0
    return { from: start + from, to: start + to, text }
  })
  const [first, last] = [placed[0]?.from ?? 0, placed.at(-1)?.to ?? 0]
  const begin = Math.max(starts[0] ?? 0, first - shown)
  const end = Math.min((starts.at(-1) ?? 0) + (parts.at(-1) ?? "").length, last + shown)
  const mutated = placed.reduceRight(
    (all, { from, text, to }) => all.slice(0, from - begin) + text + all.slice(to - begin),
    source.slice(begin, end)
  )
  const onOneLine = (text: string) => text.replace(/\s+/g, " ").trim()
  return {
    line: source.slice(0, first).split("\n").length,
    before: onOneLine(source.slice(begin, end)),
    after: onOneLine(mutated)
  }
}

const mutantsOfFile = (path: string): ReadonlyArray<Mutant> => {
  const source = readFileSync(path, "utf8")
  const file = relative(projectRoot, path).replaceAll("\\", "/")
  return findTemplates(file, source).flatMap((template) =>
    mutantsOf(template.parts).map((edits) => ({ template, edits, ...describe(source, template, edits) }))
  )
}

const isInLayers = (path: string) => relative(join(projectRoot, "src", "layers"), path).startsWith("..") === false

/** All mutants of the files of `src/layers` that match a pattern. */
export const findMutants = (pattern: string) =>
  ts.sys
    .readDirectory(projectRoot, [".ts"], ["node_modules"], [pattern])
    .filter(isInLayers)
    .sort()
    .flatMap(mutantsOfFile)
