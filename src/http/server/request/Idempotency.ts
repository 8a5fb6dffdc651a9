import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import { type ApiError, Conflict, fieldError, Unavailable } from "../../../domain/Errors.ts"
import { yieldIfLongText } from "../../../layers/infra/concurrency/EventLoop.ts"
import { inTransaction } from "../../../layers/infra/postgres/connection/Transactions.ts"
import { type IdempotencyKeyScope, IdempotencyKeys } from "../../../layers/tenancy/IdempotencyKeys.ts"
import { idempotencyKeyPattern } from "../../api/Idempotency.ts"
import type { HttpResponse } from "../response/HttpResponse.ts"
import type { Identity } from "./Authorizer.ts"

const StoredResponse = Schema.parseJson(
  Schema.Struct({
    status: Schema.Int,
    headers: Schema.Record({ key: Schema.String, value: Schema.String }),
    body: Schema.optionalWith(Schema.String, { exact: true })
  })
)
const encodeStored = Schema.encodeSync(StoredResponse)
const decodeStored = Schema.decodeSync(StoredResponse)

const fingerprintOf = (request: IncomingMessage, bytes: Buffer) =>
  createHash("sha256").update(`${request.method} ${request.url}\n`).update(bytes).digest()

const isSuccess = (status: number) => status >= 200 && status < 300

const keyReused = new Conflict({ message: "This Idempotency-Key was already used for another request; send a new key" })
const invalidKey = fieldError("Idempotency-Key", "format", "must be 1 to 255 printable ASCII characters without spaces")

const scopeOf = (key: string, route: string, { principal, tenant }: Identity): IdempotencyKeyScope => ({
  tenant: tenant ?? "",
  issuer: principal?.issuer ?? "",
  subject: principal?.subject ?? "",
  route,
  key
})

const toReplay = ({ body, headers, status }: ReturnType<typeof decodeStored>): HttpResponse => ({
  status,
  headers: { ...headers, "idempotent-replayed": "true" },
  body
})

/** Whether the request runs at most once, in one transaction with its key. */
export const hasIdempotencyKey = ({ headers, method }: IncomingMessage) =>
  method === "POST" && headers["idempotency-key"] !== undefined

/**
 * Runs work once per Idempotency-Key. The work's transaction claims the key, so both commit together or not at all. A
 * concurrent duplicate waits for that transaction and then gets the stored response. Every failure releases the key,
 * including a failure that commits its earlier writes.
 */
export const makeIdempotency = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* IdempotencyKeys

  const saveResponse = Effect.fnUntraced(function* (scope: IdempotencyKeyScope, response: typeof StoredResponse.Type) {
    const encoded = encodeStored(response)
    yield* yieldIfLongText(encoded)
    yield* keys.saveResponse(scope, encoded)
  })

  const runOrReplay = (scope: IdempotencyKeyScope, fingerprint: Buffer, work: Effect.Effect<HttpResponse, ApiError>) =>
    Effect.gen(function* () {
      if (yield* keys.claim(scope, fingerprint)) {
        const { body, headers, status } = yield* work
        if (typeof body === "object")
          return yield* Effect.dieMessage("Only a text response can be stored for an Idempotency-Key")
        yield* isSuccess(status)
          ? saveResponse(scope, { status, headers, ...(body === undefined ? {} : { body }) })
          : keys.release(scope)
        return { status, headers, body } satisfies HttpResponse
      }
      const stored = yield* keys.findResponse(scope)
      if (stored === undefined)
        return yield* Effect.fail(Unavailable.because("the response to an Idempotency-Key was removed"))
      if (!stored.fingerprint.equals(fingerprint)) return yield* Effect.fail(keyReused)
      return toReplay(decodeStored(stored.answer))
    }).pipe(inTransaction(sql))

  return (
    request: IncomingMessage,
    route: string,
    identity: Identity,
    bytes: Buffer,
    work: () => Effect.Effect<HttpResponse, ApiError>
  ): Effect.Effect<HttpResponse, ApiError> => {
    const key = request.headers["idempotency-key"]
    if (!hasIdempotencyKey(request)) return work()
    if (typeof key !== "string" || !idempotencyKeyPattern.test(key)) return Effect.fail(invalidKey)
    return runOrReplay(scopeOf(key, route, identity), fingerprintOf(request, bytes), Effect.suspend(work))
  }
})
