import { Pool } from "undici"
import { together } from "../running/pace.ts"
import type { Server } from "../serverProcess.ts"

const linesAtOnce = 10
const atOnce = 16

/** Different requests of each kind, over all callers: enough that no two under way are about the same invoice. */
const requestsOfAKind = 512

export const mix = "half POST /billables of 10 lines, half GET /clients/{id}"

const lines = Array.from({ length: linesAtOnce }, (_, n) => ({
  name: `Assembly, day ${n}`,
  quantity: 7.25,
  amountMinor: 14_550 + n
}))

interface Raw {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly tenant: string
  readonly token: string
  readonly body?: object
}

const toText = ({ body, method, path, tenant, token }: Raw) => {
  const text = body === undefined ? "" : JSON.stringify(body)
  const content = body === undefined ? [] : ["content-type: application/json", `content-length: ${text.length}`]
  const head = [`${method} /api/v1${path} HTTP/1.1`, "host: bench", `authorization: Bearer ${token}`]
  return [...head, `tenant-id: ${tenant}`, ...content, "", text].join("\r\n")
}

/** What one caller sends in a tenant of his own: requests of both kinds in turn, a contract for each invoice. */
const requestsOf = async (pool: Pool, token: string, count: number) => {
  const create = async (path: string, body: object, tenant?: string) => {
    const answer = await pool.request({
      method: "POST",
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(tenant === undefined ? {} : { "tenant-id": tenant })
      },
      body: JSON.stringify(body)
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 201) throw new Error(`POST ${path} was answered ${answer.statusCode}: ${text}`)
    const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // what the API answers
    return data.id
  }
  const tenant = await create("/tenants", { name: "Overload" })
  const requests: Array<string> = []
  await together(count, atOnce, async (n) => {
    const clientId = await create("/clients", { name: `Client ${n}` }, tenant)
    const contract = { clientId, name: `Contract ${n}`, currencyCode: "CHF", status: "ACTIVE" }
    const contractId = await create("/contracts", contract, tenant)
    const invoiceId = await create("/invoices", { contractId }, tenant)
    requests.push(
      toText({ method: "POST", path: "/billables", tenant, token, body: { invoiceId, billables: lines } }),
      toText({ method: "GET", path: `/clients/${clientId}`, tenant, token })
    )
  })
  return requests
}

/** The requests of so many callers, a tenant each, dealt out in turn. */
export const prepareCallers = async ({ base }: Server, tokens: ReadonlyArray<string>) => {
  const pool = new Pool(base, { connections: atOnce })
  const each = Math.ceil(requestsOfAKind / tokens.length)
  const all: Array<ReadonlyArray<string>> = []
  for (const token of tokens) all.push(await requestsOf(pool, token, each))
  await pool.close()
  return Array.from({ length: 2 * each }, (_, n) => all.flatMap((requests) => requests.slice(n, n + 1))).flat()
}
