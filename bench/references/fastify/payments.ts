import type { FastifyInstance } from "fastify"
import type { NewPayment } from "../payment.ts"
import { createPayment } from "../paymentCreation.ts"
import { requireRole } from "./access.ts"
import { newPaymentSchema, paymentResponseSchema } from "./paymentSchemas.ts"

export const registerPayments = async (app: FastifyInstance) => {
  app.post<{ Body: NewPayment }>(
    "/",
    { onRequest: requireRole("ADMIN"), schema: { body: newPaymentSchema, response: { 201: paymentResponseSchema } } },
    async ({ body, caller, url }, reply) => {
      const data = await createPayment(caller, body)
      reply.code(201).header("location", `${url}/${data.id}`)
      return { data }
    }
  )
}
