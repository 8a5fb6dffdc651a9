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

const StoredAnswer = Schema.parseJson(
  Schema.Struct({
    status: Schema.Int,
    headers: Schema.Record({ key: Schema.String, value: Schema.String }),
    body: Schema.optionalWith(Schema.String, { exact: true })
  })
)
const encode = Schema.encodeSync(StoredAnswer)
const decode = Schema.decodeSync(StoredAnswer)

const fingerprintOf = (request: IncomingMessage, bytes: Buffer) =>
  createHash("sha256").update(`${request.method} ${request.url}\n`).update(bytes).digest()

const isSuccess = (status: number) => status >= 200 && status < 300

const reused = new Conflict({ message: "The Idempotency-Key was used for another request" })
const badKey = breaks("Idempotency-Key", "format", "must be 1 to 255 printable ASCII characters without spaces")

const scopeOf = (key: string, route: string, { principal, tenant }: Identity): KeyScope => ({
  tenant: tenant ?? "",
  issuer: principal?.issuer ?? "",
  subject: principal?.subject ?? "",
  route,
  key
})

const replayed = ({ body, headers, status }: ReturnType<typeof decode>): Answer => ({
  status,
  headers: { ...headers, "idempotent-replayed": "true" },
  body
})

/** Whether a request is to be done once only, in one transaction with its key. */
export const isOnce = ({ headers, method }: IncomingMessage) =>
  method === "POST" && headers["idempotency-key"] !== undefined

/**
 * Does work once per Idempotency-Key. The key is claimed in the transaction of the work, so both become known together
 * or not at all, and a twin that comes meanwhile waits and then gets the same answer. Every failure leaves the key free,
 * also one that commits what was done before it.
 */
export const makeOnce = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* IdempotencyKeys

  const firstOrAgain = (scope: KeyScope, fingerprint: Buffer, work: Effect.Effect<Answer, WireError>) =>
    Effect.gen(function* () {
      if (yield* keys.claim(scope, fingerprint)) {
        const { body, headers, status } = yield* work
        if (typeof body === "object") return yield* Effect.dieMessage("Only text can be kept to be answered again")
        yield* isSuccess(status)
          ? keys.keep(scope, encode({ status, headers, ...(body === undefined ? {} : { body }) }))
          : keys.release(scope)
        return { status, headers, body } satisfies Answer
      }
      const known = yield* keys.recall(scope)
      if (known === undefined) return yield* Effect.fail(new ServiceUnavailable())
      if (!known.fingerprint.equals(fingerprint)) return yield* Effect.fail(reused)
      return replayed(decode(known.answer))
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
    if (typeof key !== "string" || !keyPattern.test(key)) return Effect.fail(badKey)
    return firstOrAgain(scopeOf(key, route, identity), fingerprintOf(request, bytes), work)
  }
})
