import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import type { Row } from "../infra/postgres/repository/Columns.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** One attempt to store the PDF of an invoice in Google Drive. */
export interface UploadAttempt {
  readonly tenant: TenantId
  readonly delivery: string
  readonly attempt: number
  readonly integration: string
  readonly invoice: string
}

/** A row of the archive of a tenant. */
interface ProofRow extends Row {
  readonly delivery: string
  readonly attempt: number
}

/** What is known of each upload: that it may have stored the file, or that it did. */
export class UploadProofs extends Effect.Service<UploadProofs>()("layers/UploadProofs", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const isSame = ({ attempt, delivery, tenant }: UploadAttempt) =>
      sql`tenant_id = ${tenant} and delivery_id = ${delivery} and attempt = ${attempt}::integer`

    return {
      /**
       * Saves that the file may be stored from now on. Returns false for a void invoice. The share lock keeps the invoice
       * from being voided before this is committed.
       */
      begin: ({ attempt, delivery, integration, invoice, tenant }: UploadAttempt) =>
        Effect.map(
          Effect.orDie(sql<object>`
            with issued as materialized (
              select 1 from invoices where tenant_id = ${tenant} and id = ${invoice} and status <> 'VOID' for share
            )
            insert into invoice_uploads (tenant_id, delivery_id, attempt, integration_id, invoice_id, started_at)
            select ${tenant}, ${delivery}, ${attempt}::integer, ${integration}, ${invoice}, now() from issued
            on conflict (tenant_id, delivery_id, attempt) do update set started_at = excluded.started_at
            returning 1`),
          (rows) => rows.length === 1
        ),

      recordStored: (upload: UploadAttempt) =>
        sql`update invoice_uploads set stored_at = now() where ${isSame(upload)}`,

      /** Forgets an upload that certainly stored nothing. */
      recordRefused: (upload: UploadAttempt) => sql`delete from invoice_uploads where ${isSame(upload)}`,

      /** One page of all uploads of the tenant, after `last`. */
      page: (last: ProofRow | undefined, limit: number) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<ProofRow>`
            select delivery_id as delivery, attempt, integration_id as integration, invoice_id as invoice,
              started_at as "startedAt", stored_at as "storedAt"
            from invoice_uploads where tenant_id = ${tenant}
              and (delivery_id, attempt) > (${last?.delivery ?? ""}, ${last?.attempt ?? 0}::integer)
            order by delivery_id, attempt limit ${limit}`)
        )
    }
  }).pipe(withSpans("UploadProofs"))
}) {}
