import type { FastifyInstance } from "fastify"
import { finalizeInvoice } from "../invoiceFinalization.ts"
import { voidInvoice } from "../invoiceVoiding.ts"
import { requireRole } from "./access.ts"
import { invoiceParamsSchema, invoiceResponseSchema } from "./invoiceSchemas.ts"

const transitions = { finalize: finalizeInvoice, void: voidInvoice }

export const registerInvoices = async (app: FastifyInstance) => {
  for (const [name, apply] of Object.entries(transitions))
    app.post<{ Params: { id: string } }>(
      `/:id/${name}`,
      {
        onRequest: requireRole("ADMIN"),
        schema: { params: invoiceParamsSchema, response: { 200: invoiceResponseSchema } }
      },
      async ({ caller, params }) => ({ data: await apply(caller, params.id) })
    )
}
