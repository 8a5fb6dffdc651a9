import type { FastifyError, FastifyInstance } from "fastify"
import { ApiError } from "../apiError.ts"

const toDetails = ({ validation = [] }: FastifyError) =>
  validation.map(({ instancePath, keyword, message = "", params }) => ({
    field: instancePath.slice(1) || String(params["missingProperty"] ?? params["additionalProperty"] ?? "body"),
    message,
    constraint: keyword
  }))

const notFoundBody = { error: "NotFound", message: "Not Found" }

export const registerErrorHandlers = (app: FastifyInstance) => {
  app.setErrorHandler((failure: FastifyError | ApiError, _, reply) => {
    const { message, statusCode = 500 } = failure
    if (failure instanceof ApiError) return reply.code(statusCode).send({ error: failure.error, message })
    // An invalid id is a 404 in this API.
    if (failure.validationContext === "params") return reply.code(404).send(notFoundBody)
    if (failure.validation !== undefined) {
      return reply
        .code(400)
        .send({ error: "ValidationError", message: "Request validation failed", details: toDetails(failure) })
    }
    return statusCode < 500
      ? reply.code(statusCode).send({ error: "ValidationError", message })
      : reply.code(500).send({ error: "InternalError", message: "Internal Server Error" })
  })
  app.setNotFoundHandler((_, reply) => reply.code(404).send(notFoundBody))
}
