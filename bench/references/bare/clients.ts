import type { IncomingMessage } from "node:http"
import { type NewClient, newClient, storing } from "../client.ts"
import { pool } from "../database.ts"
import { type ClientRow, createClient, listClients } from "../statements.ts"
import { inTenant } from "./access.ts"
import { refusal } from "./answer.ts"

const written = ({ createdAt, description, id, name, order, updatedAt }: ClientRow) =>
  `{"id":"${id}","name":${JSON.stringify(name)},` +
  (description === null ? "" : `"description":${JSON.stringify(description)},`) +
  (order === null ? "" : `"order":${order},`) +
  `"media":[],"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`

export const listAll = inTenant("VIEWER", async (_, tenant) => {
  const { rows } = await pool.query<ClientRow>({ ...listClients, values: [tenant] })
  return { status: 200, body: `{"data":[${rows.map(written).join(",")}]}` }
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const bodyOf = (request: IncomingMessage) =>
  new Promise<unknown>((resolve) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      text += chunk
    })
    request.on("end", () => resolve(parsed(text)))
  })

const known = new Set(["name", "description", "order"])

const isNewClient = (body: unknown): body is NewClient => {
  if (typeof body !== "object" || body === null || !Object.keys(body).every((key) => known.has(key))) return false
  const { description, name, order } = body as { [K in keyof NewClient]?: unknown } // an object: any key may be asked for
  return (
    typeof name === "string" &&
    name.length >= 1 &&
    name.length <= 200 &&
    (description === undefined || (typeof description === "string" && description.length <= 1024)) &&
    (order === undefined || Number.isSafeInteger(order))
  )
}

export const createOne = inTenant("MEMBER", async (request, tenant) => {
  const body = await bodyOf(request)
  if (!isNewClient(body)) return refusal(400, "ValidationError", "Request validation failed")
  const client = newClient(body)
  await pool.query({ ...createClient, values: storing(tenant, client) })
  return {
    status: 201,
    body: `{"data":${JSON.stringify(client)}}`,
    headers: { location: `${request.url}/${client.id}` }
  }
})
