import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type BatchCursor, deleteBatch, runInBatches, withRowLock } from "../../infra/postgres/Batches.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { deleteAttempts, type RemovalLimits, removalLimits } from "./DeliveryRemoval.ts"

interface Deleted {
  readonly tenant: string
  readonly id: string
}

const byId = [{ name: "id", type: "text" }]

/** Purges deleted integrations. Their deliveries, inbound webhooks and issues are unbounded, so it works in batches. */
export const makeDeletedIntegrations = (sql: SqlClient.SqlClient, limits: RemovalLimits = removalLimits) => {
  const deleteNext = deleteBatch(sql)
  const deleteAttemptsOf = deleteAttempts(sql, limits)

  /** Random choice: janitors rarely pick the same one, and one that fails to purge does not block the others. */
  const selectNext = sql<Deleted>`
    select tenant, id from (
      select tenant_id as tenant, id from all_integrations where deleted_at is not null order by deleted_at limit 100
    ) first order by random() limit 1`

  const ownedBy = ({ id, tenant }: Deleted) => sql`tenant_id = ${tenant} and integration_id = ${id}`

  const whileIntegrationLocked = ({ id, tenant }: Deleted) =>
    withRowLock(
      sql,
      sql`
        select 1 from all_integrations where tenant_id = ${tenant} and id = ${id} and deleted_at is not null
        for no key update skip locked`
    )

  const removeDeliveries = (deleted: Deleted, after = "") =>
    Effect.gen(function* () {
      const rows = yield* sql<{ id: string }>`
        select id from deliveries where ${ownedBy(deleted)} and id > ${after}
        order by id limit ${limits.maxDeliveries} for update`
      const ids = sql`
        select ${deleted.tenant}, json_array_elements_text(${JSON.stringify(rows.map(({ id }) => id))}::json)`
      if (!(yield* deleteAttemptsOf(ids))) return after
      yield* sql`delete from deliveries where (tenant_id, id) in (${ids})`
      return rows.length < limits.maxDeliveries ? undefined : rows.at(-1)?.id
    })

  const removeRows = (deleted: Deleted, table: string) =>
    runInBatches((after: BatchCursor | undefined) =>
      whileIntegrationLocked(deleted)(deleteNext({ table, key: byId, where: ownedBy(deleted) }, after))
    )

  /** The cascade covers rows that concurrent transactions added before they saw the deletion. */
  const removeRow = ({ id, tenant }: Deleted) =>
    sql`delete from all_integrations where tenant_id = ${tenant} and id = ${id}`

  const purge = (deleted: Deleted) =>
    Effect.gen(function* () {
      yield* runInBatches((after: string | undefined) =>
        whileIntegrationLocked(deleted)(removeDeliveries(deleted, after))
      )
      yield* removeRows(deleted, "inbound_webhooks")
      yield* removeRows(deleted, "tracked_issues")
      yield* whileIntegrationLocked(deleted)(removeRow(deleted))
      return true
    }).pipe(Effect.catchTag("RowLockUnavailable", () => Effect.succeed(false)))

  return {
    /** Purges one deleted integration. Returns false if there is none, or another janitor has it locked. */
    removeNext: Effect.flatMap(selectNext, ([deleted]) =>
      deleted === undefined ? Effect.succeed(false) : purge(deleted)
    ).pipe(Effect.orDie)
  }
}

export class DeletedIntegrations extends Effect.Service<DeletedIntegrations>()("layers/DeletedIntegrations", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => makeDeletedIntegrations(sql)).pipe(withSpans("DeletedIntegrations"))
}) {}
