import type { Mutant } from "./findMutants.ts"
import type { FileResult, Lane } from "./lane.ts"
import type { Outcome } from "./report.ts"

/** Gives the items to the lanes, one at a time each. */
export const spread = async <A>(
  lanes: ReadonlyArray<Lane>,
  items: Iterable<A>,
  work: (lane: Lane, item: A) => Promise<void>
) => {
  const queue = items[Symbol.iterator]()
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = queue.next(); next.done !== true; next = queue.next()) await work(lane, next.value)
    })
  )
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, one) => total + one, 0)

/** The tests that a mutant may change, by file. */
type Selection = ReadonlyArray<{ readonly file: string; readonly tests: FileResult["tests"] }>

/** Which tests use which templates, from a run without a mutant. */
export const makeCoverage = (results: ReadonlyArray<FileResult>) => {
  const loaded = new Set(results.flatMap((result) => result.loaded))

  /** Whether a text is read while files load. Whatever uses a statement of its file may use it then. */
  const isStatic = ({ template }: Mutant) => loaded.has(template.id)

  const isUsedIn = ({ template }: Mutant) =>
    loaded.has(template.id)
      ? (used: ReadonlyArray<string>) => used.some((id) => id.startsWith(`${template.file}:`))
      : (used: ReadonlyArray<string>) => used.includes(template.id)

  /** The quickest file first. */
  const select = (mutant: Mutant): Selection => {
    const isUsed = isUsedIn(mutant)
    return results
      .map(({ file, shared, tests }) => ({
        file,
        tests: isUsed(shared) ? tests : tests.filter(({ used }) => isUsed(used))
      }))
      .filter(({ tests }) => tests.length > 0)
      .sort((a, b) => sum(a.tests.map(({ millis }) => millis)) - sum(b.tests.map(({ millis }) => millis)))
  }
  return { isStatic, select }
}

export type Coverage = ReturnType<typeof makeCoverage>

/** Whether tests detect a mutant. */
export const tryMutant = async (lane: Lane, { edits, template }: Mutant, selection: Selection): Promise<Outcome> => {
  if (selection.length === 0) return "unreached"
  const tests = selection.flatMap((file) => file.tests.map(({ id }) => id))
  const files = selection.map(({ file }) => file)
  const results = await lane.run(files, { template: template.id, edits, tests })
  return results === undefined || results.some(({ failed }) => failed) ? "killed" : "lived"
}
