import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { QueuedFile } from "../../../domain/invoicing/document/InvoiceFile.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

export interface InvoiceFileJob {
  readonly tenant: TenantId
  /** The invoice or the credit note. */
  readonly document: string
  readonly variant: QueuedFile
  /** False when the tenant is deleted. */
  readonly isActive: boolean
}

/** Longer than the slowest rendering. When a worker crashes or fails, another claim gets the job after this lease. */
const leaseMinutes = 20

/** Queue of invoice files to render in the background. Saving a file deletes its job. */
export class InvoiceFileQueue extends Effect.Service<InvoiceFileQueue>()("layers/InvoiceFileQueue", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** Builds the CTE that enqueues the file, for the statement that changes the document. */
    buildEnqueue: (document: string, variant: QueuedFile) =>
      Effect.map(
        CurrentTenant,
        (tenant) => sql`enqueued as (
          insert into invoice_file_queue (tenant_id, invoice_id, variant) values (${tenant}, ${document}, ${variant})
          on conflict do nothing)`
      ),

    /**
     * Claims the first due job of the first tenant after `after`, so that tenants take turns. After five attempts the
     * queue gives up; the next request for the file renders it.
     */
    claim: (after: string) =>
      Effect.map(
        Effect.orDie(sql<InvoiceFileJob>`
          with next as (
            select tenant_id, invoice_id, variant from invoice_file_queue
            where attempts < 5 and tenant_id > ${after} and due_at <= now()
            order by tenant_id, due_at limit 1 for update skip locked
          )
          update invoice_file_queue queue
          set due_at = now() + make_interval(mins => ${leaseMinutes}), attempts = attempts + 1
          from next
          where (queue.tenant_id, queue.invoice_id, queue.variant) = (next.tenant_id, next.invoice_id, next.variant)
          returning queue.tenant_id as tenant, queue.invoice_id as document, queue.variant,
            exists (select from tenants where id = queue.tenant_id and deleted_at is null) as "isActive"`),
        ([job]) => job
      )
  })).pipe(withSpans("InvoiceFileQueue"))
}) {}
