import type { FastifyInstance } from "fastify"
import type { NewLines } from "../billable.ts"
import { addLines } from "../lineCreation.ts"
import { requireRole } from "./access.ts"
import { billablesResponseSchema, newLinesSchema } from "./billableSchemas.ts"

export const registerBillables = async (app: FastifyInstance) => {
  app.post<{ Body: NewLines }>(
    "/",
    {
      bodyLimit: 4 * 1024 * 1024,
      onRequest: requireRole("MEMBER"),
      schema: { body: newLinesSchema, response: { 201: billablesResponseSchema } }
    },
    async ({ body, caller }, reply) => {
      const data = await addLines(caller, body)
      reply.code(201).header("location", `/api/v1/billables?invoiceId=${body.invoiceId}`)
      return { data }
    }
  )
}
