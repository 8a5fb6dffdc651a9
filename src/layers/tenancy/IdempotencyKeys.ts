import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Secrets } from "../secrets/Secrets.ts"

/** Whose key it is: the same key means nothing to another caller, tenant or operation. */
export interface KeyScope {
  readonly tenant: string
  readonly issuer: string
  readonly subject: string
  readonly route: string
  readonly key: string
}

const lifeHours = 24

const placeOf = ({ issuer, key, route, subject, tenant }: KeyScope) =>
  JSON.stringify(["idempotency_keys", tenant, issuer, subject, route, key])

/** Claims and answers under idempotency keys, to be used inside the transaction of the work they guard. */
export class IdempotencyKeys extends Effect.Service<IdempotencyKeys>()("layers/IdempotencyKeys", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const matches = ({ issuer, key, route, subject, tenant }: KeyScope) => sql`
      tenant_id = ${tenant} and issuer = ${issuer} and subject = ${subject} and route = ${route} and key = ${key}`

    return {
      /** Whether the key is ours now. A twin under way is waited for; a key past its life is free again. */
      claim: (scope: KeyScope, fingerprint: Buffer) =>
        Effect.orDie(sql<object>`
          insert into idempotency_keys as known (tenant_id, issuer, subject, route, key, fingerprint)
          values (${scope.tenant}, ${scope.issuer}, ${scope.subject}, ${scope.route}, ${scope.key}, ${fingerprint})
          on conflict (tenant_id, issuer, subject, route, key) do update
            set fingerprint = excluded.fingerprint, answer = null, claimed_at = now()
            where known.claimed_at < now() - make_interval(hours => ${lifeHours})
          returning 1`).pipe(Effect.map((rows) => rows.length === 1)),

      keep: (scope: KeyScope, answer: string) =>
        Effect.orDie(sql`
          update idempotency_keys set answer = ${secrets.seal(placeOf(scope), Buffer.from(answer))}
          where ${matches(scope)}`),

      /** Gives up a claim without an answer. */
      release: (scope: KeyScope) => Effect.orDie(sql`delete from idempotency_keys where ${matches(scope)}`),

      /** What a claimed key was used for, and the answer it earned. */
      recall: (scope: KeyScope) =>
        Effect.orDie(sql<{ fingerprint: Buffer; answer: Buffer | null }>`
          select fingerprint, answer from idempotency_keys where ${matches(scope)}`).pipe(
          Effect.map(([row]) =>
            row?.answer
              ? { fingerprint: row.fingerprint, answer: secrets.open(placeOf(scope), row.answer).toString() }
              : undefined
          )
        ),

      /** Forgets keys past their life, at most `most` at a time. */
      purge: (most: number) =>
        Effect.orDie(sql<object>`
          delete from idempotency_keys where ctid = any (array(
            select ctid from idempotency_keys
            where claimed_at < now() - make_interval(hours => ${lifeHours}) limit ${most}
          )) returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  })
}) {}
