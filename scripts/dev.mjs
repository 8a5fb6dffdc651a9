import { setTimeout as pause } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { changedSince, main, prepare, programs, sourcesChangedSince } from "./prepare.mjs"
import { loadEnvironmentFile, orExplain } from "./project.mjs"

const help = `npm run dev   like npm start, and restarts the api and the workers when a file in src changes; PostgreSQL, NATS and
              their data stay`

const pollMs = 150

/** Builds the programs whenever their sources change. `up --watch` restarts the processes that run them. */
const rebuildOnChange = async () => {
  const { openBundle } = await import("./bundle.mjs")
  let builtAt = Date.now()
  const bundles = await Promise.all(programs.map(([entry, outfile]) => openBundle(entry, outfile)))
  for (;;) {
    // Polling works on every file system, also on those that report no changes. It does not keep this process alive.
    await pause(pollMs, undefined, { ref: false })
    if (!sourcesChangedSince(builtAt)) continue
    const since = builtAt
    builtAt = Date.now()
    try {
      // `main` every time: `up --watch` restarts for a new one, and a migration is a file of its own.
      for (const { build, includes, outfile } of bundles)
        if (outfile === main || includes((file) => changedSince(since, file))) await build()
    } catch (error) {
      process.stderr.write(`\n${error.message}\nThe processes keep running with the last build that worked.\n`)
    }
  }
}

const run = async () => {
  loadEnvironmentFile()
  await prepare()
  // In the same process, so that the command receives the signals and sets the exit code.
  process.argv = [process.execPath, main, "up", "--watch"]
  await import(pathToFileURL(main).href)
  await rebuildOnChange()
}

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(run())
