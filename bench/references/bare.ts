import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { type Answer, refusal } from "./bare/answer.ts"
import { createOne, listAll } from "./bare/clients.ts"
import { environment, exitWithBench } from "./environment.ts"

exitWithBench()

const routes = new Map<string, (request: IncomingMessage) => Promise<Answer>>([
  ["GET /readyz", async () => ({ status: 200, body: `{"ready":true}` })],
  ["GET /api/v1/clients", listAll],
  ["POST /api/v1/clients", createOne]
])

const answerTo = (request: IncomingMessage) =>
  routes.get(`${request.method} ${request.url}`)?.(request) ?? Promise.resolve(refusal(404, "NotFound", "Not Found"))

createServer(async (request, response) => {
  const { body, headers, status } = await answerTo(request).catch(() =>
    refusal(500, "InternalError", "Internal Server Error")
  )
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": request.headers["x-request-id"] ?? randomUUID(),
    ...headers
  })
  response.end(body)
}).listen(environment.port, "127.0.0.1")
