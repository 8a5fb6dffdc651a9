import { Option, SchemaAST } from "effect"
import { defaults, settings } from "./layers/config/Settings.ts"
import { workerNames } from "./workers/registry.ts"

const commands = [
  ["npm start", "everything on this machine: database, broker, api and workers"],
  ["npm run api", "the api alone, against DATABASE_URL and NATS_URL"],
  [`npm run worker -- ${workerNames.join("|")}`, "one worker alone, in as many copies as needed"],
  ["npm run migrate", "bring the database's schema up to date"],
  ["npm run -s token -- --sub alice", "print a development bearer token (--expires-in <seconds>)"],
  ["npm test", "type check, lint and every test, on a database and broker of its own"],
  ["npm run bench", "measure the service beside reference servers"]
] as const

/** Every setting with what it is unless set, and what it means. */
export const settingRows = Object.entries(settings).map(([name, { from }]) => ({
  name,
  fallback: defaults[name] === undefined ? "" : String(defaults[name]),
  description: Option.getOrElse(SchemaAST.getDescriptionAnnotation(from.ast), () => "")
}))

const columns = (rows: ReadonlyArray<readonly [string, string]>) => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

const described = ({ description, fallback }: (typeof settingRows)[number]) =>
  fallback === "" ? description : `${description} [${fallback}]`

export const help = [
  "Contracting and invoicing for many tenants, over HTTP and JSON.",
  "",
  "Commands:",
  ...columns(commands),
  "",
  "Settings, by environment variable [what they are unless set]:",
  ...columns(settingRows.map((row) => [row.name, described(row)]))
].join("\n")
