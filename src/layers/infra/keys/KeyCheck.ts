import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, Schedule } from "effect"
import { SettingsError } from "../config/Settings.ts"
import { isTransient } from "../postgres/connection/TransientErrors.ts"
import { sealedColumns } from "../secrets/SealedColumns.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { readSealed } from "./SealedRows.ts"

const missingKey = (ids: ReadonlyArray<string>) =>
  new SettingsError({
    errors: [
      `SECRETS_KEY lacks a key that secrets in the database are encrypted with (${ids.join(", ")}). Add it behind the new one, and run npm run reseal before you remove it`
    ]
  })

/** For a database from before keys were registered: whether the keys decrypt one secret of each column. */
const opensSamples = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { open } = yield* Secrets
  for (const column of sealedColumns) {
    const [sample] = yield* readSealed(sql, column, undefined, 1)
    if (sample === undefined) continue
    const opened = yield* Effect.option(Effect.try(() => open(column.associatedDataOf(sample.row), sample.sealed)))
    if (opened._tag === "None") return false
  }
  return true
})

/**
 * Fails if a secret in the database may be encrypted with a key that this process lacks. Registers the newest key before
 * anything is encrypted with it.
 */
export const checkKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Secrets
  const registered = yield* sql<{ id: string }>`select id from secret_keys order by added_at`
  const missing = registered.filter(({ id }) => !keyIds.includes(id)).map(({ id }) => id)
  if (missing.length > 0) return yield* missingKey(missing)
  if (registered.length === 0 && !(yield* opensSamples)) return yield* missingKey(["of an earlier release"])
  const added = registered.length === 0 ? keyIds : [keyIds[0]]
  yield* sql`insert into secret_keys (id) select unnest(${added}::text[]) on conflict do nothing`
})

/** Checks the keys at process start. */
export const KeyCheckLive = Layer.effectDiscard(
  Effect.retry(checkKeys, { while: isTransient, schedule: Schedule.spaced("1 second") })
).pipe(Layer.provide(Secrets.Default))
