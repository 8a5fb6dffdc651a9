import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { type Answer, notFound, refusal } from "./bare/answer.ts"
import { billablesPath, createMany } from "./bare/billables.ts"
import { createOne, listAll } from "./bare/clients.ts"
import { isVoidPath, voidOne } from "./bare/invoices.ts"
import { changeOne, projectPath, readOne } from "./bare/projects.ts"
import { environment, exitWithBench } from "./environment.ts"
import { Refused } from "./refused.ts"

exitWithBench()

const routes = new Map<string, (request: IncomingMessage) => Promise<Answer>>([
  ["GET /readyz", async () => ({ status: 200, body: `{"ready":true}` })],
  ["GET /api/v1/clients", listAll],
  ["POST /api/v1/clients", createOne],
  [`GET ${projectPath}`, readOne],
  [`PATCH ${projectPath}`, changeOne],
  [`POST ${billablesPath}`, createMany],
  ["POST void", voidOne]
])

/** What of an address tells the route: it may go on with one identifier, and with a query. */
const routeOf = (url = "") => {
  if (isVoidPath(url)) return "void"
  return url.startsWith(projectPath) ? projectPath : url
}

const answerTo = (request: IncomingMessage) =>
  routes.get(`${request.method} ${routeOf(request.url)}`)?.(request) ?? Promise.resolve(notFound)

const refusalOf = (error: unknown) =>
  error instanceof Refused
    ? refusal(error.statusCode, error.error, error.message)
    : refusal(500, "InternalError", "Internal Server Error")

createServer(async (request, response) => {
  const { body, headers, status } = await answerTo(request).catch(refusalOf)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": request.headers["x-request-id"] ?? randomUUID(),
    ...headers
  })
  response.end(body)
}).listen(environment.port, "127.0.0.1")
