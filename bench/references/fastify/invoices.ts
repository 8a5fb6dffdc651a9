import type { FastifyInstance } from "fastify"
import { voidInvoice } from "../voiding.ts"
import { requireRole } from "./access.ts"
import { invoicePath, oneInvoice } from "./invoiceSchemas.ts"

export const invoices = async (app: FastifyInstance) => {
  app.post<{ Params: { id: string } }>(
    "/:id/void",
    { onRequest: requireRole("ADMIN"), schema: { params: invoicePath, response: { 200: oneInvoice } } },
    async ({ params, tenant }) => ({ data: await voidInvoice(tenant, params.id) })
  )
}
