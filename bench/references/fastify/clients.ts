import type { FastifyInstance } from "fastify"
import { makeClient, type NewClient, toClient, toInsertValues } from "../client.ts"
import { pool } from "../database.ts"
import { type ClientRow, createClientStatement, listClientsStatement } from "../statements.ts"
import { requireRole } from "./access.ts"
import { clientResponseSchema, clientsResponseSchema, newClientSchema } from "./clientSchemas.ts"

export const registerClients = async (app: FastifyInstance) => {
  app.get(
    "/",
    { onRequest: requireRole("VIEWER"), schema: { response: { 200: clientsResponseSchema } } },
    async ({ caller: { tenant } }) => {
      const { rows } = await pool.query<ClientRow>({ ...listClientsStatement, values: [tenant] })
      return { data: rows.map(toClient) }
    }
  )

  app.post<{ Body: NewClient }>(
    "/",
    { onRequest: requireRole("MEMBER"), schema: { body: newClientSchema, response: { 201: clientResponseSchema } } },
    async ({ body, caller, url }, reply) => {
      const client = makeClient(body)
      await pool.query({ ...createClientStatement, values: toInsertValues(caller, client) })
      reply.code(201).header("location", `${url}/${client.id}`)
      return { data: client }
    }
  )
}
