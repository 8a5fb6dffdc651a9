import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import { breaks, Conflict, ServiceUnavailable, type WireError } from "../../../domain/Errors.ts"
import { atomically } from "../../../layers/postgres/connection/Transaction.ts"
import { IdempotencyKeys, type KeyScope } from "../../../layers/tenancy/IdempotencyKeys.ts"
import { keyPattern } from "../../api/Idempotency.ts"
import type { Answer } from "../response/Answer.ts"
import type { Identity } from "./Authorize.ts"

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

const keyReused = new Conflict({ message: "The Idempotency-Key was used for another request" })
const invalidKey = breaks("Idempotency-Key", "format", "must be 1 to 255 printable ASCII characters without spaces")

const scopeOf = (key: string, route: string, { principal, tenant }: Identity): KeyScope => ({
  tenant: tenant ?? "",
  issuer: principal?.issuer ?? "",
  subject: principal?.subject ?? "",
  route,
  key
})

const toReplay = ({ body, headers, status }: ReturnType<typeof decodeStored>): Answer => ({
  status,
  headers: { ...headers, "idempotent-replayed": "true" },
  body
})

/** Whether the request runs at most once, in one transaction with its key. */
export const isOnce = ({ headers, method }: IncomingMessage) =>
  method === "POST" && headers["idempotency-key"] !== undefined

/**
 * Runs work once per Idempotency-Key. The work's transaction claims the key, so both commit together or not at all. A
 * concurrent duplicate waits for that transaction and then gets the stored response. Every failure releases the key,
 * including a failure that commits its earlier writes.
 */
export const makeOnce = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* IdempotencyKeys

  const runOrReplay = (scope: KeyScope, fingerprint: Buffer, work: Effect.Effect<Answer, WireError>) =>
    Effect.gen(function* () {
      if (yield* keys.claim(scope, fingerprint)) {
        const { body, headers, status } = yield* work
        if (typeof body === "object")
          return yield* Effect.dieMessage("Only a text response can be stored for an Idempotency-Key")
        yield* isSuccess(status)
          ? keys.keep(scope, encodeStored({ status, headers, ...(body === undefined ? {} : { body }) }))
          : keys.release(scope)
        return { status, headers, body } satisfies Answer
      }
      const stored = yield* keys.recall(scope)
      if (stored === undefined) return yield* Effect.fail(new ServiceUnavailable())
      if (!stored.fingerprint.equals(fingerprint)) return yield* Effect.fail(keyReused)
      return toReplay(decodeStored(stored.answer))
    }).pipe(atomically(sql))

  return (
    request: IncomingMessage,
    route: string,
    identity: Identity,
    bytes: Buffer,
    work: Effect.Effect<Answer, WireError>
  ): Effect.Effect<Answer, WireError> => {
    const key = request.headers["idempotency-key"]
    if (!isOnce(request)) return work
    if (typeof key !== "string" || !keyPattern.test(key)) return Effect.fail(invalidKey)
    return runOrReplay(scopeOf(key, route, identity), fingerprintOf(request, bytes), work)
  }
})
