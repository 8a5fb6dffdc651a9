import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  ApiError,
  ConnectionError,
  type ContractingClient,
  createClient,
  type Tenant,
  Unauthorized
} from "../../dist/client/index.js"
import { projectRoot } from "../local/ProjectRoot.ts"

/** A failure whose message says all that its reader needs. */
export class UsageError extends Error {}

/** The options of every tool, for `parseArgs`. */
export const connectionOptions = {
  help: { type: "boolean" },
  url: { type: "string" },
  token: { type: "string" },
  tenant: { type: "string" }
} as const

export const connectionHelp = `  --url <address>     the service; default is API of the environment, or http://localhost:3000
  --token <token>     the bearer token; default is TOKEN of the environment, or a development token of alice
  --tenant <id>       the tenant`

export interface ConnectionArguments {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly tenant?: string | undefined
}

/** A development token lasts for a day. */
const renewalMs = 12 * 60 * 60 * 1000

/** Gets development tokens of alice, as `npm run token` does, and renews them while the tool runs. */
const makeDevelopmentToken = () => {
  let created: { readonly at: number; readonly token: Promise<string> } | undefined
  const make = async () => {
    const program = join(projectRoot, "dist", "main.js")
    const { stdout } = await promisify(execFile)(process.execPath, [program, "token", "--sub", "alice"])
    return stdout.trim()
  }
  return () => {
    if (created === undefined || Date.now() - created.at > renewalMs) created = { at: Date.now(), token: make() }
    return created.token
  }
}

const defaultUrl = () => `http://localhost:${process.env["PORT"] ?? 3000}`

/** The base address, which the README's API has a prefix behind. */
export const urlOf = ({ url = process.env["API"] ?? defaultUrl() }: ConnectionArguments) =>
  url.replace(/(\/api\/v1)?\/*$/, "")

/** A client of the service that the arguments name. */
export const connect = (given: ConnectionArguments, options: { readonly maxRetries?: number } = {}) =>
  createClient({
    baseUrl: urlOf(given),
    token: given.token ?? process.env["TOKEN"] ?? makeDevelopmentToken(),
    ...options
  })

/** The caller's tenants. Also finds out whether the service is there and knows the caller. */
export const listTenants = async (service: ContractingClient, given: ConnectionArguments): Promise<Array<Tenant>> => {
  try {
    return await service.tenants.list().toArray()
  } catch (error) {
    const url = urlOf(given)
    if (error instanceof ConnectionError)
      throw new UsageError(`No service answers at ${url}. Start it with npm start, or name another one with --url.`)
    if (error instanceof Unauthorized)
      throw new UsageError(`The service at ${url} rejects the token. Give one of its own with --token or TOKEN.`)
    throw error
  }
}

/** The tenant that the arguments name. */
export const requireTenant = (tenants: ReadonlyArray<Tenant>, id: string) => {
  const found = tenants.find((tenant) => tenant.id === id)
  if (found === undefined) throw new UsageError(`The caller is no member of a tenant ${id}.`)
  return found
}

/** Runs a tool. A failure ends it with exit code 1, and with a stack only if nobody expected it. */
export const runTool = (main: () => Promise<void>) =>
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      const isExpected = error instanceof UsageError || error instanceof ApiError || error instanceof ConnectionError
      process.stderr.write(`\n${isExpected ? error.message : error instanceof Error ? error.stack : error}\n`)
      process.exit(1)
    }
  )
