import { randomUUID } from "node:crypto"
import { HttpApp, HttpMiddleware, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { etagOfResponse } from "../etag.ts"

const etagOf = ({ body, status }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? etagOfResponse(status, Buffer.from(body.body).toString()) : undefined

const withHeaders = HttpApp.appendPreResponseHandler(({ headers }, response) =>
  Effect.succeed(
    HttpServerResponse.setHeaders(response, {
      "x-request-id": headers["x-request-id"] ?? randomUUID(),
      ...etagOf(response)
    })
  )
)

/** The headers that all servers send, with errors too, which become responses behind every middleware. */
export const addHeaders = HttpMiddleware.make((app) => Effect.zipRight(withHeaders, app))
