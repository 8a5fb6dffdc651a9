import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeHost, isWorthRepeating, watchHost } from "./busyHost.mjs"
import { prepare } from "./prepare.mjs"
import { inProject, npm, orExplain, root } from "./project.mjs"

const help = `npm test                      type check, lint, what requests cost, and all tests with a temporary PostgreSQL and NATS server
npm test -- --only <words>    only the test files whose path contains one of the words; no checks
npm test -- --changed [<commit>]  only the test files that import what changed since the commit [what is not committed];
                              no checks
npm run test:quick            only the tests that need no server; no checks
npm run test:watch            the tests that need no server, again on every change
npm run test:watch -- <words> the test files whose path contains one of the words, again on every change
npm test -- --thorough <options>   with all random cases, of which \`npm test\` runs a part
npm test -- --cluster <options>    with three NATS servers, one of which is killed every twelve seconds
npm test -- --pgbouncer <options>  with PgBouncer in transaction mode in front of PostgreSQL
npm test -- <options>         options for vitest, for example -t "part of a test's name"`

const vitest = inProject("node_modules/vitest/vitest.mjs")

const start = ({ command, args }, options) => {
  // A process group of its own: the workers of vitest outlive vitest unless they get the signal too.
  const child = spawn(command, args, { cwd: root, ...options, detached: true })
  const forward = (signal) => process.kill(-child.pid, signal)
  process.once("SIGINT", forward).once("SIGTERM", forward)
  const succeeded = new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => {
      process.removeListener("SIGINT", forward).removeListener("SIGTERM", forward)
      resolve(code === 0)
    })
  })
  return { child, succeeded }
}

const run = (title, command, env = process.env) => {
  process.stdout.write(`\n── ${title}\n`)
  return start(command, { env, stdio: "inherit" }).succeeded
}

/** Runs a command beside others, and prints what it says when it ends. */
const runBeside = async (title, command) => {
  const { child, succeeded } = start(command, { stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data))
  const isFine = await succeeded
  process.stdout.write(`\n── ${title}: ${isFine ? "no errors" : "failed"}\n${isFine ? "" : output}`)
  return isFine
}

/** They take long and hardly wait, while tests mostly wait: beside the tests they cost little time. */
const runChecks = async () => {
  const isTyped = await runBeside("type check", npm("run", "-s", "typecheck"))
  const isLinted = await runBeside("lint", npm("run", "-s", "lint"))
  const isWithinBudget = await runBeside("cost of requests", npm("run", "-s", "bench", "--", "--budget"))
  return isTyped && isLinted && isWithinBudget
}

const runVitest = async (args) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-counts-"))
  const file = join(folder, "counts.json")
  const reporters = ["--reporter=default", `--reporter=${inProject("scripts/countingReporter.mjs")}`]
  const command = {
    command: process.execPath,
    args: [vitest, "run", ...reporters, ...args]
  }
  try {
    const succeeded = await run("tests", command, { ...process.env, TEST_COUNTS: file })
    const { passed, failed, failedFiles } = JSON.parse(readFileSync(file, "utf8"))
    return { passed, failed: succeeded ? failed : Math.max(failed, 1), failedFiles }
  } catch {
    return { passed: 0, failed: 1, failedFiles: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs until the user ends it. Needs no counts, because every change has its own result. */
const watchTests = (words) => {
  const selection = words.length === 0 ? ["--project", "quick"] : ["--project", "all", ...words]
  return run("tests", { command: process.execPath, args: [vitest, "watch", ...selection] })
}

/** A test that waited too long on a busy host passes when its file runs alone. One that is broken fails again. */
const repeatIfBusy = async (result, stolenPercent) => {
  const { passed, failed, failedFiles } = result
  if (!isWorthRepeating(stolenPercent, failedFiles)) return result
  process.stdout.write(`\n${describeHost(stolenPercent)}The files of failed tests run once more, alone.\n`)
  const again = await runVitest(["--project", "all", ...failedFiles])
  return again.failed === 0 ? { passed: passed + failed, failed: 0 } : result
}

const runEverything = async (args) => {
  const readStolenPercent = watchHost()
  const [areChecked, result] = await Promise.all([runChecks(), runVitest(["--project", "all", ...args])])
  const { passed, failed } = await repeatIfBusy(result, readStolenPercent())
  return { passed, failed: areChecked ? failed : failed + 1 }
}

const runAll = async (args) => {
  const [first, ...rest] = args
  if (first === "--only") return runVitest(["--project", "all", ...rest])
  if (first === "--changed") return runVitest(["--project", "all", "--changed", ...rest])
  if (first === "--quick") return runVitest(["--project", "quick", ...rest])
  return runEverything(args)
}

/** Options that choose the servers of the run, or how much it tests. */
const runOptions = { "--thorough": "TEST_THOROUGH", "--cluster": "TEST_NATS_CLUSTER", "--pgbouncer": "TEST_PGBOUNCER" }

const takeRunOptions = (given) => {
  for (const [option, variable] of Object.entries(runOptions)) {
    if (given.includes(option)) process.env[variable] = "1"
  }
  return given.filter((option) => !(option in runOptions))
}

const args = takeRunOptions(process.argv.slice(2))
if (args.includes("--help")) {
  process.stdout.write(`${help}\n`)
} else {
  await orExplain(prepare({ dev: true }))
  if (args[0] === "--watch") {
    process.exitCode = (await watchTests(args.slice(1))) ? 0 : 1
  } else {
    const readStolenPercent = watchHost()
    const { passed, failed } = await runAll(args)
    process.stdout.write(`\n${describeHost(readStolenPercent())}${passed} passed, ${failed} failed\n`)
    process.exitCode = failed === 0 ? 0 : 1
  }
}
