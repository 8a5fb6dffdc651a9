import { spawn } from "node:child_process"
import { parseArgs } from "node:util"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain, root } from "./project.mjs"

const help = `npm run chaos                       chaos test: writes 20000 events over HTTP while it kills all processes,
                                    PostgreSQL and NATS at random, then verifies that every subscriber received its
                                    events in order
npm run chaos -- --events <number>  with another number of events; npm test runs it with 200 and kills each once
npm run chaos -- --mails <number>   mails instead of events: through a mail server that defers, delays and drops at
                                    random, while it kills the workers; verifies that no mail is sent twice
npm run chaos -- --cluster          with three NATS servers, of which one at a time is killed
npm run chaos -- --pgbouncer        with PgBouncer in transaction mode in front of PostgreSQL`

const { values } = parseArgs({
  options: {
    help: { type: "boolean" },
    events: { type: "string", default: "20000" },
    mails: { type: "string" },
    cluster: { type: "boolean" },
    pgbouncer: { type: "boolean" }
  }
})

const serversOf = ({ cluster, pgbouncer }) => ({
  ...(cluster ? { CHAOS_CLUSTER: "1" } : {}),
  ...(pgbouncer ? { CHAOS_PGBOUNCER: "1" } : {})
})

const run = async ({ events, mails }) => {
  if (!/^[1-9]\d*$/.test(events)) throw new Error("--events must be a whole number")
  if (mails !== undefined && !/^[1-9]\d*$/.test(mails)) throw new Error("--mails must be a whole number")
  const [file, counts] = mails === undefined ? ["chaos", { EVENTS: events }] : ["mails", { MAILS: mails }]
  await prepare({ dev: true })
  const child = spawn(
    process.execPath,
    [
      inProject("node_modules/vitest/vitest.mjs"),
      ...["run", `test/workers/chaos/${file}.test.ts`, "--disable-console-intercept=true"]
    ],
    { cwd: root, env: { ...process.env, ...serversOf(values), ...counts }, stdio: "inherit" }
  )
  const forward = (signal) => child.kill(signal)
  process.once("SIGINT", forward).once("SIGTERM", forward)
  child.once("exit", (code) => {
    process.exitCode = code ?? 1
  })
}

if (values.help) process.stdout.write(`${help}\n`)
else await orExplain(run(values))
