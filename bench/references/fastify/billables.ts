import type { FastifyInstance } from "fastify"
import type { NewLines } from "../billable.ts"
import { addLines } from "../lineAdding.ts"
import { requireRole } from "./access.ts"
import { manyBillables, newLines } from "./billableSchemas.ts"

export const billables = async (app: FastifyInstance) => {
  app.post<{ Body: NewLines }>(
    "/",
    {
      bodyLimit: 4 * 1024 * 1024,
      onRequest: requireRole("MEMBER"),
      schema: { body: newLines, response: { 201: manyBillables } }
    },
    async ({ body, tenant }, reply) => {
      const data = await addLines(tenant, body)
      reply.code(201).header("location", `/api/v1/billables?invoiceId=${body.invoiceId}`)
      return { data }
    }
  )
}
