import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import { Billable } from "../../domain/invoicing/Billable.ts"
import { jiraReferenceType } from "../../domain/trackers/IssueBilling.ts"
import type { TrackedIssue } from "../../domain/trackers/TrackedIssue.ts"
import { insertEvent, workerOrigin } from "../infra/postgres/repository/EventLog.ts"
import { makeResourceReader } from "../infra/postgres/repository/ResourceReader.ts"
import { canBillSite, isCreatedFromIssue } from "../invoicing/BillingPredicates.ts"

export interface IssueChange {
  /** The site of the issue, or null while it is unknown. */
  readonly site: string | null
  readonly before: TrackedIssue | undefined
  readonly after: TrackedIssue
}

/**
 * Records an event for each billable whose issue has changed since it was billed. The billable itself does not change.
 */
export const makeDriftRecorder = (sql: SqlClient.SqlClient) => {
  const billables = makeResourceReader<Billable>(
    sql,
    { table: "billables", fields: Billable.fields, relations: ["invoice"] },
    { tenantColumn: "tenant_id", visible: "true" }
  )
  const record = insertEvent(sql, sql.literal("changed"))

  /**
   * Locks the billables of an issue, by its current and its previous key. Locks their invoices first, as every change
   * of a line does.
   */
  const lockBilled = Effect.fnUntraced(function* (tenant: string, { after, before, site }: IssueChange) {
    const keys = JSON.stringify([after.issueKey, before?.issueKey ?? after.issueKey])
    const isBilled = sql`b.id in (
      select b.id from billables b where b.tenant_id = ${tenant} and not b.released and b.reference_type = ${jiraReferenceType}
        and b.reference_id in (select json_array_elements_text(${keys}::json)) and ${canBillSite(sql, sql`${site}::text`)}
      union
      select b.id from billables b where b.tenant_id = ${tenant} and not b.released
        and ${isCreatedFromIssue(sql, sql`${after.id}`)}) and b.tenant_id = ${tenant} and not b.released`
    const lockedInvoices = yield* sql<object>`
      select 1 from invoices i where i.tenant_id = ${tenant} and i.id in (select b.invoice_id from billables b where ${isBilled})
      order by i.id for no key update`
    if (lockedInvoices.length === 0) return []
    return yield* sql<{ id: string }>`select b.id from billables b where ${isBilled} order by b.id for no key update`
  })

  const clientOf = (tenant: string, invoice: string) => sql`(
    select c.client_id from invoices i join contracts c on c.tenant_id = i.tenant_id and c.id = i.contract_id
    where i.tenant_id = ${tenant} and i.id = ${invoice})`

  const recordChange = Effect.fnUntraced(function* (tenant: string, id: string, { after, before }: IssueChange) {
    const { sequence, value } = yield* Effect.orDie(billables.getVersion(id))
    const event = record({
      tenant,
      type: "billable.reference_changed" satisfies EventType,
      resource: id,
      client: clientOf(tenant, value.invoice),
      sequence: sequence + 1,
      at: new Date().toISOString(),
      ...workerOrigin,
      data: { ...value, ...(before === undefined ? {} : { before }), after }
    })
    yield* sql`
      with changed as (
        update billables set sequence = ${sequence + 1} where tenant_id = ${tenant} and id = ${id} returning 1
      ) ${event}`
  })

  /** Call this in the transaction that changes the issue. */
  return (tenant: string, change: IssueChange) =>
    Effect.gen(function* () {
      for (const { id } of yield* lockBilled(tenant, change)) yield* recordChange(tenant, id, change)
    })
}
