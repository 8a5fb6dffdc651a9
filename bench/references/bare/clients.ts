import { type NewClient, newClient, storing } from "../client.ts"
import { pool } from "../database.ts"
import { type ClientRow, createClient, listClients } from "../statements.ts"
import { inTenant } from "./access.ts"
import { invalid } from "./answer.ts"
import { bodyOf, isObjectOf, isOrder, isText } from "./body.ts"

const written = ({ createdAt, description, id, name, order, updatedAt }: ClientRow) =>
  `{"id":"${id}","name":${JSON.stringify(name)},` +
  (description === null ? "" : `"description":${JSON.stringify(description)},`) +
  (order === null ? "" : `"order":${order},`) +
  `"media":[],"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`

export const listAll = inTenant("VIEWER", async (_, tenant) => {
  const { rows } = await pool.query<ClientRow>({ ...listClients, values: [tenant] })
  return { status: 200, body: `{"data":[${rows.map(written).join(",")}]}` }
})

const known = new Set(["name", "description", "order"])

const isNewClient = (body: unknown): body is NewClient => {
  if (!isObjectOf(known, body)) return false
  const { description, name, order } = body
  return (
    isText(name, 1, 200) &&
    (description === undefined || isText(description, 0, 1024)) &&
    (order === undefined || isOrder(order))
  )
}

export const createOne = inTenant("MEMBER", async (request, tenant) => {
  const body = await bodyOf(request)
  if (!isNewClient(body)) return invalid
  const client = newClient(body)
  await pool.query({ ...createClient, values: storing(tenant, client) })
  return {
    status: 201,
    body: `{"data":${JSON.stringify(client)}}`,
    headers: { location: `${request.url}/${client.id}` }
  }
})
