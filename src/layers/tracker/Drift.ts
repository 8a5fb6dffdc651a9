import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/Catalogue.ts"
import { Billable } from "../../domain/invoicing/Billable.ts"
import { issueReference } from "../../domain/tracker/IssueBilling.ts"
import type { TrackedIssue } from "../../domain/tracker/TrackedIssue.ts"
import { mayBill, wasMadeOf } from "../invoicing/MayBill.ts"
import { recording } from "../postgres/repository/EventLog.ts"
import { makeReading } from "../postgres/repository/ResourceReading.ts"

export interface Change {
  /** Whose issue it is, as far as that is known. */
  readonly site: string | null
  readonly before: TrackedIssue | undefined
  readonly after: TrackedIssue
}

/** Tells of lines that were billed for an issue which is no longer what it was. The lines themselves stay as they are. */
export const makeDrift = (sql: SqlClient.SqlClient) => {
  const billables = makeReading<Billable>(
    sql,
    { table: "billables", fields: Billable.fields, relations: ["invoice"] },
    { tenantColumn: "tenant_id", visible: "true" }
  )
  const record = recording(sql, sql.literal("changed"))

  /** The lines that bill an issue, by its key or that of before; their invoices are held, as for every change of a line. */
  const billed = Effect.fnUntraced(function* (tenant: string, { after, before, site }: Change) {
    const keys = JSON.stringify([after.issueKey, before?.issueKey ?? after.issueKey])
    const bill = sql`b.id in (
      select b.id from billables b where b.tenant_id = ${tenant} and not b.released and b.reference_type = ${issueReference}
        and b.reference_id in (select json_array_elements_text(${keys}::json)) and ${mayBill(sql, sql`${site}::text`)}
      union
      select b.id from billables b where b.tenant_id = ${tenant} and not b.released
        and ${wasMadeOf(sql, sql`${after.id}`)}) and b.tenant_id = ${tenant} and not b.released`
    const held = yield* sql<object>`
      select 1 from invoices i where i.tenant_id = ${tenant} and i.id in (select b.invoice_id from billables b where ${bill})
      order by i.id for no key update`
    if (held.length === 0) return []
    return yield* sql<{ id: string }>`select b.id from billables b where ${bill} order by b.id for no key update`
  })

  const clientOf = (tenant: string, invoice: string) => sql`(
    select c.client_id from invoices i join contracts c on c.tenant_id = i.tenant_id and c.id = i.contract_id
    where i.tenant_id = ${tenant} and i.id = ${invoice})`

  const tellOf = Effect.fnUntraced(function* (tenant: string, id: string, { after, before }: Change) {
    const { sequence, value } = yield* Effect.orDie(billables.current(id))
    const event = record({
      tenant,
      type: "billable.reference_changed" satisfies EventType,
      resource: id,
      client: clientOf(tenant, value.invoice),
      sequence: sequence + 1,
      at: new Date().toISOString(),
      data: { ...value, ...(before === undefined ? {} : { before }), after }
    })
    yield* sql`
      with changed as (
        update billables set sequence = ${sequence + 1} where tenant_id = ${tenant} and id = ${id} returning 1
      ) ${event}`
  })

  /** To be done in the transaction of the change itself. */
  return (tenant: string, change: Change) =>
    Effect.gen(function* () {
      for (const { id } of yield* billed(tenant, change)) yield* tellOf(tenant, id, change)
    })
}
