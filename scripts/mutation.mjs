import { spawn } from "node:child_process"
import { buildTool } from "./buildTool.mjs"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain, root } from "./project.mjs"

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

const start = (args) => {
  // A process group of its own: the workers of vitest outlive vitest unless they get the signal too.
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", detached: true })
  const forward = (signal) => process.kill(-child.pid, signal)
  // npm may pass on a signal that this process has got as well.
  process.on("SIGINT", forward).on("SIGTERM", forward)
  child.once("exit", (code) => {
    process.exitCode = code ?? 1
  })
}

const run = async (args) => {
  await prepare({ dev: true })
  if (!args.includes("--sql"))
    return start([inProject("node_modules/@stryker-mutator/core/bin/stryker.js"), "run", ...args])
  return start([await buildTool("test/support/mutation/sql/main.ts"), ...args.filter((arg) => arg !== "--sql")])
}

const args = process.argv.slice(2)
if (args.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(run(args))
