import type { FastifyInstance } from "fastify"
import { clientOf, type NewClient, newClient, storing } from "../client.ts"
import { pool } from "../database.ts"
import { type ClientRow, createClient, listClients } from "../statements.ts"
import { requireRole } from "./access.ts"
import { manyClients, newClient as newClientSchema, oneClient } from "./clientSchemas.ts"

export const clients = async (app: FastifyInstance) => {
  app.get("/", { onRequest: requireRole("VIEWER"), schema: { response: { 200: manyClients } } }, async ({ tenant }) => {
    const { rows } = await pool.query<ClientRow>({ ...listClients, values: [tenant] })
    return { data: rows.map(clientOf) }
  })

  app.post<{ Body: NewClient }>(
    "/",
    { onRequest: requireRole("MEMBER"), schema: { body: newClientSchema, response: { 201: oneClient } } },
    async ({ body, tenant, url }, reply) => {
      const client = newClient(body)
      await pool.query({ ...createClient, values: storing(tenant, client) })
      reply.code(201).header("location", `${url}/${client.id}`)
      return { data: client }
    }
  )
}
