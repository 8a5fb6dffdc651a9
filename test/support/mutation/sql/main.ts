import { inspect, parseArgs } from "node:util"
import { findMutants, type Mutant } from "./findMutants.ts"
import { type FileResult, type Lane, openLane, renewWorkers, startServers } from "./lane.ts"
import { describeVerdict, formatScores, scoreOf, type Verdict } from "./report.ts"
import { testFilesOf } from "./testFiles.ts"
import { type Coverage, makeCoverage, spread, tryMutant } from "./trial.ts"

/** Below this score the run fails, like that of the mutants of `src/domain`. */
const minScore = 85

const { values } = parseArgs({
  options: {
    mutate: { type: "string", default: "src/layers/**/*.ts" },
    concurrency: { type: "string", default: "2" }
  }
})

// What the command line of vitest sets.
Object.assign(process.env, { NODE_ENV: "test", TEST: "true", VITEST: "true" })

const print = (line: string) => process.stdout.write(`${line}\n`)

const isLived = ({ outcome }: Verdict) => outcome !== "killed"

/** Runs every file of tests once without a mutant. Leaves out what fails anyway. */
const measure = async (lanes: ReadonlyArray<Lane>, files: ReadonlyArray<string>) => {
  const results: Array<FileResult> = []
  let done = 0
  await spread(lanes, files, async (lane, file) => {
    const [result] = (await lane.run([file], null)) ?? []
    if (result?.failed === false) results.push(result)
    else print(`${file} fails without a mutant, and is left out: ${result?.error ?? "it does not end"}`)
    print(`… ${++done} of ${files.length} files of tests without a mutant`)
  })
  return makeCoverage(results)
}

const run = async () => {
  const mutants = findMutants(values.mutate)
  if (mutants.length === 0) throw new Error(`No statements in ${values.mutate}`)
  const templates = [...new Map(mutants.map(({ template }) => [template.id, template])).values()]
  const verdicts: Array<Verdict> = []
  // Also after a signal, when vitest exits. Its own listener, which comes later, lets no other run.
  process.once("exit", () => verdicts.length > 0 && print(`\n${formatScores(verdicts)}`))
  const { servers, stop } = await startServers()
  const lanes: Array<Lane> = []
  const closeLanes = () => Promise.all(lanes.splice(0).map((lane) => lane.close()))
  const openLanes = async () => {
    for (let n = 0; n < Number(values.concurrency); n++) lanes.push(await openLane(templates, servers))
  }

  const tryAll = (some: ReadonlyArray<Mutant>, coverage: Coverage) =>
    spread(lanes, some, async (lane, mutant) => {
      const verdict = { mutant, outcome: await tryMutant(lane, mutant, coverage.select(mutant)) }
      verdicts.push(verdict)
      if (isLived(verdict)) print(describeVerdict(verdict))
      if (verdicts.length % 10 === 0) {
        print(`… ${verdicts.length} of ${mutants.length} mutants, ${verdicts.filter(isLived).length} lived`)
      }
    })

  await openLanes()
  const coverage = await measure(lanes, testFilesOf(templates.map(({ file }) => file)))
  await tryAll(
    mutants.filter((mutant) => !coverage.isStatic(mutant)),
    coverage
  )
  await closeLanes()
  renewWorkers()
  await openLanes()
  await tryAll(mutants.filter(coverage.isStatic), coverage)
  await closeLanes()
  await stop()
  process.exitCode = scoreOf(verdicts) >= minScore ? 0 : 1
}

// The listener of vitest for the end of the process would keep Node.js from printing the error.
await run().catch((error: unknown) => {
  print(inspect(error))
  process.exit(1)
})
