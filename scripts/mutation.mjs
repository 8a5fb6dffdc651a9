import { spawn } from "node:child_process"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain, root } from "./project.mjs"
import { runProgram } from "./tool.mjs"

const help = `npm run mutation                      makes small changes (mutants) to the code in src/domain, one at a time, and runs the
                                      tests that need no server; lists the mutants that no test detects, and the score
                                      by file; fails if the tests detect less than 85 % of all mutants
npm run mutation -- --mutate <files>  only in these files, for example --mutate "src/domain/invoicing/*.ts"
npm run mutation -- --incremental     only mutants and tests that changed since the last run with --incremental
npm run mutation -- <options>         further options for Stryker, for example --concurrency 1

The reports are node_modules/.cache/mutation/report.html and report.json.

npm run mutation -- --sql                   the same with the SQL statements in src/layers, and the tests that run them on
                                            a temporary PostgreSQL server: comparisons, and, or, not, null, lists,
                                            coalesce and intervals; what a test runs in a process of its own stays as it is
npm run mutation -- --sql --mutate <files>  only in these files, for example --mutate "src/layers/payments/**/*.ts"
npm run mutation -- --sql --concurrency 1   with one worker instead of two`

const run = async (args) => {
  await prepare({ dev: true })
  const stryker = inProject("node_modules/@stryker-mutator/core/bin/stryker.js")
  const child = spawn(process.execPath, [stryker, "run", ...args], { cwd: root, stdio: "inherit" })
  const forward = (signal) => child.kill(signal)
  process.once("SIGINT", forward).once("SIGTERM", forward)
  child.once("exit", (code) => {
    process.exitCode = code ?? 1
  })
}

const args = process.argv.slice(2)
const sql = args.indexOf("--sql")
if (args.includes("--help")) process.stdout.write(`${help}\n`)
else if (sql !== -1) {
  process.argv.splice(2 + sql, 1)
  await runProgram("sql-mutation", "test/support/mutation/sql/main.ts", { runtimeFiles: false })
} else await orExplain(run(args))
