import { parseArgs } from "node:util"
import { failover } from "./failover.ts"
import { loseBroker } from "./loseBroker.ts"
import { restore } from "./restore.ts"
import { rotateKeys } from "./rotateKeys.ts"
import { openStage, type Stage } from "./stage.ts"
import { upgrade } from "./upgrade.ts"

type Drill = (stage: Stage) => Promise<Readonly<Record<string, string | number>>>

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean" }, from: { type: "string" } }
})

const drills: Readonly<Record<string, { readonly summary: string; readonly run: Drill }>> = {
  restore: { summary: "restores PostgreSQL to the moment before an accident", run: restore },
  failover: {
    summary: "kills the primary PostgreSQL server under load and promotes its standby",
    run: (stage) => failover(stage)
  },
  "rotate-keys": { summary: "changes the key of secrets under load", run: rotateKeys },
  "lose-broker": { summary: "kills and freezes the servers of a NATS cluster under load", run: loseBroker },
  upgrade: { summary: "replaces every process of a release under load", run: upgrade(values.from) }
}

const help = [
  "npm run drill -- <name>    rehearses a failure on servers of its own; without a name, all of them",
  "",
  ...Object.entries(drills).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`),
  "",
  "  --from <folder>  upgrade from the release in this folder; default is this one",
  "",
  "Each drill ends with its figures and passed or failed. It uses nothing of a running service."
].join("\n")

const print = (line: string) => void process.stdout.write(`${line}\n`)

const runDrill = async (name: string, run: Drill) => {
  const startedAt = Date.now()
  print(`\n${name}`)
  const stage = await openStage()
  const interrupt = () => void stage.close().then(() => process.exit(130))
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt)
  try {
    const figures = await run(stage)
    for (const [what, value] of Object.entries(figures)) print(`  ${what}: ${value}`)
    print(`✓ ${name} passed (${Math.round((Date.now() - startedAt) / 1000)} s)`)
    return true
  } catch (error) {
    print(`✗ ${name} failed: ${error instanceof Error ? error.message : error}`)
    return false
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt)
    await stage.close()
  }
}

const unknown = positionals.filter((name) => !(name in drills))
if (values.help === true) {
  print(help)
} else if (unknown.length > 0) {
  print(`"${unknown.join(", ")}" is not a drill.\n\n${help}`)
  process.exitCode = 1
} else {
  const chosen = Object.entries(drills).filter(([name]) => positionals.length === 0 || positionals.includes(name))
  const results: Array<boolean> = []
  for (const [name, { run }] of chosen) results.push(await runDrill(name, run))
  // A failed drill leaves its subscribers connected, and they would keep this process alive.
  process.exit(results.every((hasPassed) => hasPassed) ? 0 : 1)
}
