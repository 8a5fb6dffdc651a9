import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { ApiError } from "./apiError.ts"
import { billablesPath, createBillables } from "./bare/billables.ts"
import { handleCreateClient, handleListClients } from "./bare/clients.ts"
import { handlePatchProject, handleReadProject, projectPath } from "./bare/projects.ts"
import { type HttpResponse, makeError, notFound } from "./bare/response.ts"
import { environment, exitWithBench } from "./environment.ts"
import { etagOfResponse } from "./etag.ts"

exitWithBench()

const routes = new Map<string, (request: IncomingMessage) => Promise<HttpResponse>>([
  ["GET /readyz", async () => ({ status: 200, body: `{"ready":true}` })],
  ["GET /api/v1/clients", handleListClients],
  ["POST /api/v1/clients", handleCreateClient],
  [`GET ${projectPath}`, handleReadProject],
  [`PATCH ${projectPath}`, handlePatchProject],
  [`POST ${billablesPath}`, createBillables]
])

/** The path without its id and query. */
const findRoute = (url = "") => (url.startsWith(projectPath) ? projectPath : url)

const handleRequest = (request: IncomingMessage) =>
  routes.get(`${request.method} ${findRoute(request.url)}`)?.(request) ?? Promise.resolve(notFound)

const toErrorResponse = (error: unknown) =>
  error instanceof ApiError
    ? makeError(error.statusCode, error.error, error.message)
    : makeError(500, "InternalError", "Internal Server Error")

createServer(async (request, response) => {
  const { body, headers, status } = await handleRequest(request).catch(toErrorResponse)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": request.headers["x-request-id"] ?? randomUUID(),
    ...etagOfResponse(status, body),
    ...headers
  })
  response.end(body)
}).listen(environment.port, "127.0.0.1")
