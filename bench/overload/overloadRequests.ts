import { Pool } from "undici"
import type { Server } from "../serverProcess.ts"
import { runConcurrently } from "../support/pacing.ts"

const linesPerRequest = 10
const concurrency = 16

/** Requests of each kind, over all callers: enough that no two concurrent ones are for the same invoice. */
const requestsPerKind = 512

export const requestMix = "half POST /billables of 10 lines, half GET /clients/{id}"

const lines = Array.from({ length: linesPerRequest }, (_, n) => ({
  name: `Assembly, day ${n}`,
  quantity: 7.25,
  amountMinor: 14_550 + n
}))

interface RequestParts {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly tenant: string
  readonly token: string
  readonly body?: object
}

const formatRequest = ({ body, method, path, tenant, token }: RequestParts) => {
  const text = body === undefined ? "" : JSON.stringify(body)
  const content = body === undefined ? [] : ["content-type: application/json", `content-length: ${text.length}`]
  const head = [`${method} /api/v1${path} HTTP/1.1`, "host: bench", `authorization: Bearer ${token}`]
  return [...head, `tenant-id: ${tenant}`, ...content, "", text].join("\r\n")
}

/** Makes the requests of one caller in a tenant of its own, each invoice under its own contract. */
const createCallerRequests = async (pool: Pool, token: string, count: number) => {
  const create = async (path: string, body: object, tenant?: string) => {
    const response = await pool.request({
      method: "POST",
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(tenant === undefined ? {} : { "tenant-id": tenant })
      },
      body: JSON.stringify(body)
    })
    const text = await response.body.text()
    if (response.statusCode !== 201) throw new Error(`POST ${path} returned ${response.statusCode}: ${text}`)
    const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // the body of every 201
    return data.id
  }
  const tenant = await create("/tenants", { name: "Overload" })
  const requests: Array<string> = []
  await runConcurrently(count, concurrency, async (n) => {
    const clientId = await create("/clients", { name: `Client ${n}` }, tenant)
    const contract = { clientId, name: `Contract ${n}`, currencyCode: "CHF", status: "ACTIVE" }
    const contractId = await create("/contracts", contract, tenant)
    const invoiceId = await create("/invoices", { contractId }, tenant)
    requests.push(
      formatRequest({ method: "POST", path: "/billables", tenant, token, body: { invoiceId, billables: lines } }),
      formatRequest({ method: "GET", path: `/clients/${clientId}`, tenant, token })
    )
  })
  return requests
}

/** Prepares the requests of all callers, interleaved. */
export const prepareRequests = async ({ baseUrl }: Server, tokens: ReadonlyArray<string>) => {
  const pool = new Pool(baseUrl, { connections: concurrency })
  const perCaller = Math.ceil(requestsPerKind / tokens.length)
  const requestsByCaller: Array<ReadonlyArray<string>> = []
  for (const token of tokens) requestsByCaller.push(await createCallerRequests(pool, token, perCaller))
  await pool.close()
  return Array.from({ length: 2 * perCaller }, (_, n) =>
    requestsByCaller.flatMap((requests) => requests.slice(n, n + 1))
  ).flat()
}
