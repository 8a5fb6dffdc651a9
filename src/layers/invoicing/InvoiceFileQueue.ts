import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { FileVariant } from "../../domain/invoicing/InvoiceFile.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"

export interface FileJob {
  readonly tenant: TenantId
  readonly invoice: string
  readonly variant: FileVariant
  /** Whether the tenant is still there. */
  readonly isActive: boolean
}

/** Longer than the largest drawing takes. A job whose worker crashed or failed is claimed again after it. */
const leaseMinutes = 20

/** Files that are to be drawn in the background. Keeping a file takes it off the queue. */
export class InvoiceFileQueue extends Effect.Service<InvoiceFileQueue>()("layers/InvoiceFileQueue", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** The part of a change to an invoice that queues its file. */
    enqueuing: (invoice: string, variant: FileVariant) =>
      Effect.map(
        CurrentTenant,
        (tenant) => sql`enqueued as (
          insert into invoice_file_queue (tenant_id, invoice_id, variant) values (${tenant}, ${invoice}, ${variant})
          on conflict do nothing)`
      ),

    /**
     * Claims the first job that is due of the first tenant behind `after`, so that tenants take turns whatever they have
     * queued. After five attempts the next request for the file draws it.
     */
    claim: (after: string) =>
      Effect.map(
        Effect.orDie(sql<FileJob>`
          with next as (
            select tenant_id, invoice_id, variant from invoice_file_queue
            where attempts < 5 and tenant_id > ${after} and due_at <= now()
            order by tenant_id, due_at limit 1 for update skip locked
          )
          update invoice_file_queue queue
          set due_at = now() + make_interval(mins => ${leaseMinutes}), attempts = attempts + 1
          from next
          where (queue.tenant_id, queue.invoice_id, queue.variant) = (next.tenant_id, next.invoice_id, next.variant)
          returning queue.tenant_id as tenant, queue.invoice_id as invoice, queue.variant,
            exists (select from tenants where id = queue.tenant_id and deleted_at is null) as "isActive"`),
        ([job]) => job
      )
  }))
}) {}
