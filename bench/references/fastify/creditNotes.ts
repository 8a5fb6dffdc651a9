import type { FastifyInstance } from "fastify"
import { finalizeCreditNote } from "../creditNoteFinalization.ts"
import { requireRole } from "./access.ts"
import { creditNoteParamsSchema, creditNoteResponseSchema } from "./creditNoteSchemas.ts"

export const registerCreditNotes = async (app: FastifyInstance) => {
  app.post<{ Params: { id: string } }>(
    "/:id/finalize",
    {
      onRequest: requireRole("ADMIN"),
      schema: { params: creditNoteParamsSchema, response: { 200: creditNoteResponseSchema } }
    },
    async ({ caller, params }) => ({ data: await finalizeCreditNote(caller, params.id) })
  )
}
