import { spawn } from "node:child_process"
import { parseArgs } from "node:util"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain, root } from "./project.mjs"

const help = `npm run chaos                       chaos test: writes 20000 events over HTTP while it kills all processes,
                                    PostgreSQL and NATS at random, then verifies that every subscriber received its
                                    events in order
npm run chaos -- --events <number>  with another number of events; npm test runs it with 500 and kills each once
npm run chaos -- --cluster          with three NATS servers, of which one at a time is killed
npm run chaos -- --pgbouncer        with PgBouncer in transaction mode in front of PostgreSQL`

const { values } = parseArgs({
  options: {
    help: { type: "boolean" },
    events: { type: "string", default: "20000" },
    cluster: { type: "boolean" },
    pgbouncer: { type: "boolean" }
  }
})

const serversOf = ({ cluster, pgbouncer }) => ({
  ...(cluster ? { CHAOS_CLUSTER: "1" } : {}),
  ...(pgbouncer ? { CHAOS_PGBOUNCER: "1" } : {})
})

const run = async (events) => {
  if (!/^[1-9]\d*$/.test(events)) throw new Error("--events must be a whole number")
  await prepare({ dev: true })
  const child = spawn(
    process.execPath,
    [
      inProject("node_modules/vitest/vitest.mjs"),
      ...["run", "test/workers/chaos/chaos.test.ts", "--disable-console-intercept=true"]
    ],
    { cwd: root, env: { ...process.env, ...serversOf(values), EVENTS: events }, stdio: "inherit" }
  )
  const forward = (signal) => child.kill(signal)
  process.once("SIGINT", forward).once("SIGTERM", forward)
  child.once("exit", (code) => {
    process.exitCode = code ?? 1
  })
}

if (values.help) process.stdout.write(`${help}\n`)
else await orExplain(run(values.events))
