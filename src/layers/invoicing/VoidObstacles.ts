import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { VoidObstacles } from "../../domain/invoicing/InvoiceStatus.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"

interface ObstacleRow {
  readonly noteNumber: string | null
  readonly noteAt: string | null
  readonly recipient: string | null
  readonly mailAt: string | null
  readonly isSent: boolean | null
  readonly uploadAt: string | null
  readonly isStored: boolean | null
  readonly viewedAt: string | null
}

const toObstacles = (row: ObstacleRow | undefined): VoidObstacles => {
  if (row === undefined) return {}
  const { isSent, isStored, mailAt, noteAt, noteNumber, recipient, uploadAt, viewedAt } = row
  return {
    ...(noteNumber === null || noteAt === null ? {} : { creditNote: { number: noteNumber, at: noteAt } }),
    ...(recipient === null || mailAt === null ? {} : { mail: { recipient, at: mailAt, isCertain: isSent === true } }),
    ...(uploadAt === null ? {} : { upload: { at: uploadAt, isCertain: isStored === true } }),
    ...(viewedAt === null ? {} : { viewedAt })
  }
}

/**
 * Finds what keeps an issued invoice from being voided. The invoice must be locked: finalizing a credit note, sending a
 * mail, uploading the PDF and recording the first opening of the page each wait for that lock before they go on.
 */
export const makeFindVoidObstacles = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (invoice: string) {
    const tenant = yield* CurrentTenant
    const [row] = yield* Effect.orDie(sql<ObstacleRow>`
      select * from (values (0)) one
      left join lateral (
        select credit_note_number as "noteNumber", issued_at as "noteAt" from credit_notes
        where tenant_id = ${tenant} and invoice_id = ${invoice} and status = 'FINALIZED' order by id limit 1
      ) note on true
      left join lateral (
        select recipient, coalesce(outcome, '') = 'SENT' as "isSent", coalesce(data_started_at, finished_at) as "mailAt"
        from invoice_mails where invoice_id = ${invoice} and tenant_id = ${tenant}
          and coalesce(outcome, 'UNCERTAIN') in ('SENT', 'UNCERTAIN')
        order by 2 desc, 3 limit 1
      ) mail on true
      left join lateral (
        select coalesce(stored_at, started_at) as "uploadAt", stored_at is not null as "isStored" from invoice_uploads
        where tenant_id = ${tenant} and invoice_id = ${invoice} order by 2 desc, 1 limit 1
      ) upload on true
      left join lateral (
        select viewed_at as "viewedAt" from invoice_links where tenant_id = ${tenant} and invoice_id = ${invoice}
      ) link on true`)
    return toObstacles(row)
  })
