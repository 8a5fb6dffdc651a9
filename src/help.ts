import { Option, SchemaAST } from "effect"
import { defaultSettings, settings } from "./layers/infra/config/Settings.ts"
import { workerNames } from "./workers/registry.ts"

const commands = [
  ["npm start", "start everything on this machine: database, broker, API and workers"],
  ["npm run dev", "the same, and restart the API and the workers when a file in src changes"],
  ["npm run api", "start only the API, with DATABASE_URL and NATS_URL"],
  [
    `npm run worker -- ${workerNames.join("|")}`,
    "start one worker, or several in one process; run as many copies as needed"
  ],
  ["npm run migrate", "apply the pending database migrations"],
  ["npm run reseal", "encrypt all secrets with the newest key of SECRETS_KEY"],
  ["npm run -s token -- --sub alice", "print a development bearer token (--expires-in <seconds>)"],
  ["npm run -s console", "print a link that signs in to the console, once, during development"],
  ["npm run demo", "fill a tenant with example data"],
  ["npm run listen -- --forward-to <url>", "forward the events of a tenant to a receiver on this machine"],
  ["npm run drill", "rehearse failures: restore, failover, rotate-keys, lose-broker, upgrade"],
  ["npm test", "type check, lint and run every test, with a separate database and broker"],
  ["npm run bench", "benchmark the service against reference servers"]
] as const

/** Every setting with its default and its description. */
export const settingRows = Object.entries(settings).map(([name, { from }]) => ({
  name,
  defaultValue: defaultSettings[name] === undefined ? "" : String(defaultSettings[name]),
  description: Option.getOrElse(SchemaAST.getDescriptionAnnotation(from.ast), () => "")
}))

const alignColumns = (rows: ReadonlyArray<readonly [string, string]>) => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

const describeSetting = ({ description, defaultValue }: (typeof settingRows)[number]) =>
  defaultValue === "" ? description : `${description} [${defaultValue}]`

export const help = [
  "Contracting and invoicing for many tenants, over HTTP and JSON.",
  "",
  "Commands:",
  ...alignColumns(commands),
  "",
  "Settings (environment variables) [default]:",
  ...alignColumns(settingRows.map((row) => [row.name, describeSetting(row)]))
].join("\n")
