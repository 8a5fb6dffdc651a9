import { setTimeout as pause } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { prepare, sourcesChangedSince, usesS3 } from "./prepare.mjs"
import { during } from "./progress.mjs"
import { loadEnvironmentFile, orExplain } from "./project.mjs"

const help = `npm run dev   like npm start, and restarts the api and the workers when a file in src changes; PostgreSQL, NATS and
              their data stay`

const pollMs = 150

/** Builds again whenever a source changes. The program of `npm start` restarts the processes. */
const buildOnChange = async (build, startedAt) => {
  let builtAt = startedAt
  for (;;) {
    // Polling works on every file system, also on those that report no changes. It does not keep this process alive.
    await pause(pollMs, undefined, { ref: false })
    if (!sourcesChangedSince(builtAt)) continue
    builtAt = Date.now()
    try {
      await build()
    } catch (error) {
      process.stderr.write(`\n${error.message}\nThe processes keep running with the last build that worked.\n`)
    }
  }
}

const run = async () => {
  loadEnvironmentFile()
  await prepare({ installOnly: true, dev: usesS3() })
  const { devLocal, openDevBundle } = await import("./devBundle.mjs")
  const build = await openDevBundle()
  const startedAt = Date.now()
  await during("Building", { quiet: false }, build)
  // In the same process, so that the command receives the signals and sets the exit code.
  process.argv = [process.execPath, devLocal, "--watch"]
  await import(pathToFileURL(devLocal).href)
  await buildOnChange(build, startedAt)
}

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(run())
