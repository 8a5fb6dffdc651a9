import { randomBytes } from "node:crypto"
import { parseArgs } from "node:util"
import type { ContractingClient, Event, Tenant } from "../../dist/client/index.js"
import {
  connect,
  connectionHelp,
  connectionOptions,
  listTenants,
  requireTenant,
  runTool,
  UsageError
} from "../common/connection.ts"
import { findEnd, followFeed } from "./feed.ts"
import { type Forwarded, forwardEvent } from "./forward.ts"

const help = `npm run listen -- --forward-to <url>

Reads the event feed of a tenant and sends each event to a local address, signed like a webhook of the service. It shows
what the receiver answers, and sends an event once. Ctrl-C ends it.

  --forward-to <url>  the receiver, such as http://localhost:4000/hook
  --from <where>      now (default), start, or the id of the event before the first one
  --type <types>      only these events, such as invoice.finalized or invoice.*
  --secret <secret>   signs the events; default is a new secret, which is printed
${connectionHelp}; default is the caller's only one`

const print = (line: string) => void process.stdout.write(`${line}\n`)

const readArguments = () => {
  try {
    const { values } = parseArgs({
      options: {
        ...connectionOptions,
        "forward-to": { type: "string" },
        from: { type: "string", default: "now" },
        type: { type: "string" },
        secret: { type: "string" }
      }
    })
    return values
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${help}`)
  }
}

type Arguments = ReturnType<typeof readArguments>

const requireReceiver = ({ "forward-to": url = "" }: Arguments) => {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new UsageError(`--forward-to needs the address of a receiver, such as http://localhost:4000/hook\n\n${help}`)
}

const requireSecret = ({ secret }: Arguments) => {
  if (secret === undefined) return `whsec_${randomBytes(32).toString("base64")}`
  if (/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) return secret
  throw new UsageError("--secret must be whsec_ followed by base64, as the secret of an integration is")
}

const chooseTenant = (tenants: ReadonlyArray<Tenant>, { tenant }: Arguments) => {
  if (tenant !== undefined) return requireTenant(tenants, tenant)
  const [only, ...others] = tenants
  if (only !== undefined && others.length === 0) return only
  if (only === undefined) throw new UsageError("The caller has no tenant yet. npm run demo makes one with data in it.")
  const choices = tenants.map(({ id, name }) => `  --tenant ${id}  ${name}`).join("\n")
  throw new UsageError(`The caller has several tenants. Choose one:\n${choices}`)
}

const findStart = async (api: ContractingClient, { from }: Arguments, signal: AbortSignal) => {
  if (from === "start") return undefined
  if (from.startsWith("evt_")) return from
  if (from === "now") return findEnd(api, signal)
  throw new UsageError(`--from must be now, start or the id of an event, not ${from}`)
}

const columns = [9, 28, 32, 14] as const

const printRow = (...cells: ReadonlyArray<string>) =>
  print(
    cells
      .map((cell, index) => cell.padEnd(columns[index] ?? 0))
      .join(" ")
      .trimEnd()
  )

const printOutcome = ({ id, type }: Event, { ms, result }: Forwarded) =>
  printRow(new Date().toTimeString().slice(0, 8), type, id, result, String(ms))

const makeStopSignal = () => {
  const controller = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

runTool(async () => {
  const given = readArguments()
  if (given.help) return print(help)
  const [url, secret] = [requireReceiver(given), requireSecret(given)]
  const service = connect(given, { maxRetries: 0 })
  const tenant = chooseTenant(await listTenants(service, given), given)
  const api = service.withTenant(tenant.id)
  const signal = makeStopSignal()
  const start = await findStart(api, given, signal)
  print(`Tenant      ${tenant.name} (${tenant.id})`)
  print(`Forward to  ${url}`)
  print(`Secret      ${secret}`)
  print("")
  printRow("time", "event", "id", "response", "ms")
  const counts = { sent: 0, accepted: 0 }
  const onAvailability = (isAvailable: boolean) =>
    print(isAvailable ? "The service is back." : "The service does not answer; waiting for it.")
  // The service rejects an unknown type, and its message lists what there is.
  const type = given.type as Event["type"] | undefined
  for await (const event of followFeed(api, start, { type, signal, onAvailability })) {
    const outcome = await forwardEvent(event, { url, secret, signal })
    if (signal.aborted) break
    printOutcome(event, outcome)
    counts.sent += 1
    if (outcome.isAccepted) counts.accepted += 1
  }
  print(`\nSent ${counts.sent} events; the receiver accepted ${counts.accepted}.`)
})
