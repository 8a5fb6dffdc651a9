import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import type { MailedDocument, MailOutcome } from "../../domain/mails/Mail.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import type { Row } from "../infra/postgres/repository/Columns.ts"
import { insertEvents, workerOrigin } from "../infra/postgres/repository/EventLog.ts"

/** A mail of a delivery. A round is what follows a redelivery: each sends the mail at most once. */
export interface DeliveryMail {
  readonly tenant: TenantId
  readonly delivery: string
  readonly round: number
  readonly integration: string
  readonly event: string
  readonly document: MailedDocument
  readonly client: string | undefined
  readonly recipient: string
  readonly messageId: string
  readonly isShared: boolean
  readonly requestedBy: string | undefined
}

/** A mail with what became of it. */
export interface MailResult extends DeliveryMail {
  readonly outcome: MailOutcome
  readonly reason?: string | undefined
}

/** A row of the archive of a tenant. */
interface ProofRow extends Row {
  readonly delivery: string
  readonly round: number
  readonly recipient: string
  readonly outcome: MailOutcome | null
}

const documentTables = { invoice: "invoices", credit_note: "credit_notes" } as const

const columns = `tenant_id, delivery_id, round, integration_id, event_id, invoice_id, credit_note_id, recipient,
  message_id, is_shared, requested_by`

/** The actions of events about mails, by outcome. Other outcomes have none. */
const eventActions: Partial<Record<MailOutcome, "sent" | "bounced">> = { SENT: "sent", REFUSED: "bounced" }

/** What is known of each mail: that it may have been sent, and what became of it. */
export const makeMailProofs = (sql: SqlClient.SqlClient) => {
  const valuesOf = ({ delivery, document, event, integration, isShared, ...mail }: DeliveryMail) => sql`
    ${mail.tenant}, ${delivery}, ${mail.round}::integer, ${integration}, ${event},
    ${document.kind === "invoice" ? document.id : null}::text,
    ${document.kind === "credit_note" ? document.id : null}::text, ${mail.recipient}, ${mail.messageId},
    ${isShared}::boolean, ${mail.requestedBy ?? null}::text`

  const isSame = ({ delivery, round, tenant }: DeliveryMail) =>
    sql`tenant_id = ${tenant} and delivery_id = ${delivery} and round = ${round}::integer`

  const save = (mail: MailResult) =>
    mail.outcome === "RETRY"
      ? sql`update invoice_mails set outcome = 'RETRY', finished_at = now() where ${isSame(mail)} and outcome is null`
      : sql`
          insert into invoice_mails (${sql.literal(columns)}, outcome, reason, finished_at)
          select ${valuesOf(mail)}, ${mail.outcome}, ${mail.reason ?? null}::text, now()
          on conflict (tenant_id, delivery_id, round)
          do update set outcome = excluded.outcome, reason = excluded.reason, finished_at = excluded.finished_at`

  const hasHappenedBefore = ({ delivery, outcome, round, tenant }: MailResult) =>
    Effect.map(
      sql<object>`
        select 1 from invoice_mails where tenant_id = ${tenant} and delivery_id = ${delivery}
          and outcome = ${outcome} and round <> ${round}::integer limit 1`,
      (rows) => rows.length > 0
    )

  const countEvent = ({ document, tenant }: DeliveryMail) => sql<{ sequence: number }>`
    update ${sql.literal(documentTables[document.kind])} set sequence = sequence + 1
    where tenant_id = ${tenant} and id = ${document.id} returning sequence`

  const insertEvent = (mail: MailResult, type: EventType) =>
    Effect.gen(function* () {
      const [row] = yield* countEvent(mail)
      if (row === undefined) return
      const { client, delivery, document, integration, messageId, reason, recipient, tenant } = mail
      const data = {
        id: document.id,
        delivery,
        integration,
        recipient,
        messageId,
        ...(reason === undefined ? {} : { reason })
      }
      const at = new Date().toISOString()
      yield* insertEvents(sql)([
        { tenant, type, resource: document.id, client, sequence: row.sequence, at, data, ...workerOrigin }
      ])
    })

  return {
    /** Locks the documents of mails. Take it before the locks of deliveries, as a request to send does. */
    lockDocuments: Effect.fnUntraced(function* (mails: ReadonlyArray<MailResult>) {
      for (const { document, tenant } of mails)
        yield* sql`
          select 1 from ${sql.literal(documentTables[document.kind])}
          where tenant_id = ${tenant} and id = ${document.id} for no key update`
    }),

    /** Saves what became of a mail, with its event: once for each recipient and outcome. */
    record: Effect.fnUntraced(function* (mail: MailResult) {
      yield* save(mail)
      const action = eventActions[mail.outcome]
      if (action === undefined || (yield* hasHappenedBefore(mail))) return
      yield* insertEvent(mail, `${mail.document.kind}.${action}`)
    }),

    /** One page of all mails of the tenant, after `last`. */
    page: (last: Pick<ProofRow, "delivery" | "round"> | undefined, limit: number) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<ProofRow>`
          select delivery_id as delivery, round, integration_id as integration, event_id as event, invoice_id as invoice,
            credit_note_id as "creditNote", recipient, message_id as "messageId", requested_by as "requestedBy",
            data_started_at as "dataStartedAt", outcome, reason, finished_at as "finishedAt"
          from invoice_mails where tenant_id = ${tenant}
            and (delivery_id, round) > (${last?.delivery ?? ""}, ${last?.round ?? 0}::integer)
          order by delivery_id, round limit ${limit}`)
      ),

    /**
     * Saves that a mail may be sent now. Returns false if it must not be sent: the worker has lost its lease, the invoice
     * is void, or this round has sent it already. The share lock on the document keeps it from being voided meanwhile,
     * and that on the delivery keeps a result from being recorded. A request to send locks both in the same order.
     */
    begin: (mail: DeliveryMail, lease: string) =>
      Effect.map(
        Effect.orDie(sql<object>`
          with issued as materialized (
            select 1 from ${sql.literal(documentTables[mail.document.kind])}
            where tenant_id = ${mail.tenant} and id = ${mail.document.id} and status <> 'VOID' for share
          ), leased as materialized (
            select 1 from deliveries where tenant_id = ${mail.tenant} and id = ${mail.delivery} and lease = ${lease}
              and leased_until > now() and exists (select 1 from issued) for share
          )
          insert into invoice_mails as mail (${sql.literal(columns)}, data_started_at)
          select ${valuesOf(mail)}, now() from leased
          on conflict (tenant_id, delivery_id, round)
          do update set data_started_at = excluded.data_started_at, outcome = null, reason = null, finished_at = null
          where mail.outcome = 'RETRY'
          returning 1`),
        (rows) => rows.length === 1
      )
  }
}

export class MailProofs extends Effect.Service<MailProofs>()("layers/MailProofs", {
  effect: Effect.map(SqlClient.SqlClient, makeMailProofs)
}) {}
