import { randomUUID } from "node:crypto"
import fastify from "fastify"
import { environment, exitWithBench } from "./environment.ts"
import { billables } from "./fastify/billables.ts"
import { clients } from "./fastify/clients.ts"
import { answerErrors } from "./fastify/errors.ts"
import { invoices } from "./fastify/invoices.ts"
import { projects } from "./fastify/projects.ts"

exitWithBench()

const app = fastify({
  logger: false,
  requestIdHeader: "x-request-id",
  genReqId: () => randomUUID(),
  bodyLimit: 1024 * 1024,
  // As strict as the service: every fault is reported, nothing is converted and nothing silently dropped.
  ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false } }
})

app.decorateRequest("principal")
app.decorateRequest("tenant", "")
app.addHook("onRequest", async (request, reply) => {
  reply.header("x-request-id", request.id)
})
answerErrors(app)
app.get("/readyz", async () => ({ ready: true }))
app.register(clients, { prefix: "/api/v1/clients" })
app.register(projects, { prefix: "/api/v1/projects" })
app.register(billables, { prefix: "/api/v1/billables" })
app.register(invoices, { prefix: "/api/v1/invoices" })

await app.listen({ host: "127.0.0.1", port: environment.port })
