import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { deleteUpTo } from "../infra/postgres/Batches.ts"
import { associatedData } from "../infra/secrets/SealedColumns.ts"
import { Secrets } from "../infra/secrets/Secrets.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** A key is unique within its caller, tenant and operation. */
export interface IdempotencyKeyScope {
  readonly tenant: string
  readonly issuer: string
  readonly subject: string
  readonly route: string
  readonly key: string
}

const ttlHours = 24

/** Idempotency keys with their stored responses. Call these inside the transaction of the guarded request. */
export class IdempotencyKeys extends Effect.Service<IdempotencyKeys>()("layers/IdempotencyKeys", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const matches = ({ issuer, key, route, subject, tenant }: IdempotencyKeyScope) => sql`
      tenant_id = ${tenant} and issuer = ${issuer} and subject = ${subject} and route = ${route} and key = ${key}`

    return {
      /** Returns whether this request owns the key now. Waits for a concurrent request with the same key; reclaims expired keys. */
      claim: (scope: IdempotencyKeyScope, fingerprint: Buffer) =>
        Effect.orDie(sql<object>`
          insert into idempotency_keys as known (tenant_id, issuer, subject, route, key, fingerprint)
          values (${scope.tenant}, ${scope.issuer}, ${scope.subject}, ${scope.route}, ${scope.key}, ${fingerprint})
          on conflict (tenant_id, issuer, subject, route, key) do update
            set fingerprint = excluded.fingerprint, answer = null, claimed_at = now()
            where known.claimed_at < now() - make_interval(hours => ${ttlHours})
          returning 1`).pipe(Effect.map((rows) => rows.length === 1)),

      saveResponse: (scope: IdempotencyKeyScope, answer: string) =>
        Effect.orDie(sql`
          update idempotency_keys set answer = ${secrets.seal(associatedData.idempotencyAnswer(scope), Buffer.from(answer))}
          where ${matches(scope)}`),

      /** Releases a claim without storing a response. */
      release: (scope: IdempotencyKeyScope) => Effect.orDie(sql`delete from idempotency_keys where ${matches(scope)}`),

      /** The request fingerprint and the stored response of a completed key. */
      findResponse: (scope: IdempotencyKeyScope) =>
        Effect.orDie(sql<{ fingerprint: Buffer; answer: Buffer | null }>`
          select fingerprint, answer from idempotency_keys where ${matches(scope)}`).pipe(
          Effect.map(([row]) =>
            row?.answer
              ? {
                  fingerprint: row.fingerprint,
                  answer: secrets.open(associatedData.idempotencyAnswer(scope), row.answer).toString()
                }
              : undefined
          )
        ),

      /** Deletes at most `max` expired keys. Returns how many. */
      purge: (max: number) =>
        Effect.orDie(
          deleteUpTo(sql, max, "idempotency_keys", sql`claimed_at < now() - make_interval(hours => ${ttlHours})`)
        )
    }
  }).pipe(withSpans("IdempotencyKeys"))
}) {}
