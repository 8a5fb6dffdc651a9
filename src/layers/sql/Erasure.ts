import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"
import { atomically } from "./Transaction.ts"

/** Every table that holds something of a tenant, those that refer to others first. */
export const tenantTables = ["idempotency_keys", "events", "clients", "members"] as const

/** Takes what is left of tenants that were deleted long enough ago out of the database for good. */
export class Erasure extends Effect.Service<Erasure>()("layers/Erasure", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { TENANT_RETENTION_DAYS } = yield* Settings

    const overdue = sql<{ id: string }>`
      select id from tenants where deleted_at <= now() - make_interval(days => ${TENANT_RETENTION_DAYS})
      limit 1 for update skip locked`

    const erase = (tenant: string) =>
      Effect.forEach(tenantTables, (table) => sql`delete from ${sql(table)} where tenant_id = ${tenant}`).pipe(
        Effect.zipRight(sql`delete from tenants where id = ${tenant}`)
      )

    return {
      /** Erases one tenant whose time has come; tells which, or nothing when there is none. */
      next: Effect.gen(function* () {
        const [tenant] = yield* overdue
        if (tenant === undefined) return undefined
        yield* erase(tenant.id)
        return tenant.id
      }).pipe(atomically(sql))
    }
  })
}) {}
