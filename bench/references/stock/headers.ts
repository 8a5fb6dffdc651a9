import { randomUUID } from "node:crypto"
import { HttpMiddleware, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { etagOfResponse } from "../etag.ts"

const etagOf = ({ body, status }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? etagOfResponse(status, Buffer.from(body.body).toString()) : undefined

/** The headers that all servers send. */
export const addHeaders = HttpMiddleware.make((app) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    Effect.map(app, (response) =>
      HttpServerResponse.setHeaders(response, {
        "x-request-id": headers["x-request-id"] ?? randomUUID(),
        ...etagOf(response)
      })
    )
  )
)
