import type { FastifyInstance } from "fastify"
import { voidInvoice } from "../invoiceVoiding.ts"
import { requireRole } from "./access.ts"
import { invoiceParamsSchema, invoiceResponseSchema } from "./invoiceSchemas.ts"

export const registerInvoices = async (app: FastifyInstance) => {
  app.post<{ Params: { id: string } }>(
    "/:id/void",
    {
      onRequest: requireRole("ADMIN"),
      schema: { params: invoiceParamsSchema, response: { 200: invoiceResponseSchema } }
    },
    async ({ params, tenant }) => ({ data: await voidInvoice(tenant, params.id) })
  )
}
