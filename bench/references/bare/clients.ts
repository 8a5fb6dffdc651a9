import { makeClient, type NewClient, toInsertValues } from "../client.ts"
import { pool } from "../database.ts"
import { type ClientRow, createClientStatement, listClientsStatement } from "../statements.ts"
import { withTenant } from "./access.ts"
import { isObjectWith, isOrder, isText, readBody } from "./body.ts"
import { validationError } from "./response.ts"

const formatClient = ({ createdAt, description, id, name, order, updatedAt }: ClientRow) =>
  `{"id":"${id}","name":${JSON.stringify(name)},` +
  (description === null ? "" : `"description":${JSON.stringify(description)},`) +
  (order === null ? "" : `"order":${order},`) +
  `"media":[],"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`

export const handleListClients = withTenant("VIEWER", async (_, { tenant }) => {
  const { rows } = await pool.query<ClientRow>({ ...listClientsStatement, values: [tenant] })
  return { status: 200, body: `{"data":[${rows.map(formatClient).join(",")}]}` }
})

const clientFields = new Set(["name", "description", "order"])

const isNewClient = (body: unknown): body is NewClient => {
  if (!isObjectWith(clientFields, body)) return false
  const { description, name, order } = body
  return (
    isText(name, 1, 200) &&
    (description === undefined || isText(description, 0, 1024)) &&
    (order === undefined || isOrder(order))
  )
}

export const handleCreateClient = withTenant("MEMBER", async (request, caller) => {
  const body = await readBody(request)
  if (!isNewClient(body)) return validationError
  const client = makeClient(body)
  await pool.query({ ...createClientStatement, values: toInsertValues(caller, client) })
  return {
    status: 201,
    body: `{"data":${JSON.stringify(client)}}`,
    headers: { location: `${request.url}/${client.id}` }
  }
})
