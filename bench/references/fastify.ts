import { randomUUID } from "node:crypto"
import fastify from "fastify"
import { environment, exitWithBench } from "./environment.ts"
import { etagOfResponse } from "./etag.ts"
import { registerBillables } from "./fastify/billables.ts"
import { registerClients } from "./fastify/clients.ts"
import { registerErrorHandlers } from "./fastify/errors.ts"
import { registerProjects } from "./fastify/projects.ts"

exitWithBench()

const app = fastify({
  logger: false,
  requestIdHeader: "x-request-id",
  genReqId: () => randomUUID(),
  bodyLimit: 1024 * 1024,
  // As strict as the service: reports all errors, converts nothing and drops nothing.
  ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false } }
})

app.decorateRequest("principal")
app.decorateRequest("caller")
app.addHook("onRequest", async (request, reply) => {
  reply.header("x-request-id", request.id)
})
app.addHook<string>("onSend", async (_, reply, body) => {
  reply.headers(etagOfResponse(reply.statusCode, body) ?? {})
  return body
})
registerErrorHandlers(app)
app.get("/readyz", async () => ({ ready: true }))
app.register(registerClients, { prefix: "/api/v1/clients" })
app.register(registerProjects, { prefix: "/api/v1/projects" })
app.register(registerBillables, { prefix: "/api/v1/billables" })

await app.listen({ host: "127.0.0.1", port: environment.port })
