import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { DeliveryStatus } from "../../domain/delivery/Delivery.ts"
import { requireNoErrors } from "../../domain/Errors.ts"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import {
  type IntegrationConfig,
  requireProviderConfigured,
  usesSharedMailServer
} from "../../domain/integrations/Integration.ts"
import {
  type MailDelivery,
  type MailedDocument,
  maxRecipients,
  requireMailable,
  requireMailIntegration,
  resolveRecipients,
  type SendMail
} from "../../domain/mails/Mail.ts"
import { mailTextErrors } from "../../domain/mails/MailTexts.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant, currentSubject } from "../../domain/tenancy/RequestContext.ts"
import { CreditNotes } from "../creditNotes/CreditNotes.ts"
import { lockAndReorderDeliveries } from "../delivery/DeliveryOrder.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { omitNulls } from "../infra/postgres/repository/Columns.ts"
import { currentOrigin, insertEvent } from "../infra/postgres/repository/EventLog.ts"
import { operatorServer } from "../infra/smtp/OperatorServer.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { Quotas } from "../quotas/Quotas.ts"

interface MailIntegration {
  readonly id: string
  readonly provider: string
  readonly config: typeof IntegrationConfig.Type
}

/** A document that is locked until the transaction ends. */
interface LockedDocument extends MailedDocument {
  readonly status: string
  readonly sequence: number
  readonly client: string
}

/** How many integrations a request without one looks at. */
const maxListed = 1000

const tables = { invoice: "invoices", credit_note: "credit_notes" } as const

type ListedMail = Omit<MailDelivery, "status"> & { readonly status: DeliveryStatus }

/** Sends invoices and credit notes by mail on request, and lists what was sent. */
export class InvoiceMails extends Effect.Service<InvoiceMails>()("layers/InvoiceMails", {
  dependencies: [Invoices.Default, CreditNotes.Default, Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const notes = yield* CreditNotes
    const quotas = yield* Quotas
    const operator = yield* operatorServer
    const record = insertEvent(sql, sql.literal("changed"))

    const lockInvoice = Effect.fnUntraced(function* (id: string) {
      const { sequence } = yield* invoices.lockForUpdate(id)
      const { client, value } = yield* invoices.getWithClient(id)
      return { kind: "invoice", id, status: value.status, sequence, client } as const
    })

    const lockNote = Effect.fnUntraced(function* (id: string) {
      const { sequence, value } = yield* notes.lockForUpdate(id)
      return { kind: "credit_note", id, status: value.status, sequence, client: value.client } as const
    })

    const findIntegration = Effect.fnUntraced(function* (given: string | undefined) {
      const tenant = yield* CurrentTenant
      const found = yield* Effect.orDie(sql<MailIntegration>`
        select id, provider, config from integrations
        where tenant_id = ${tenant} and case when ${given ?? null}::text is null then provider = 'EMAIL' else id = ${given ?? null} end
        order by id limit ${maxListed} for key share`)
      return yield* requireMailIntegration(found, given)
    })

    /** The addresses of the client among the given ones, and those that receive invoices. */
    const loadAddresses = Effect.fnUntraced(function* (client: string, given: ReadonlyArray<string>) {
      const tenant = yield* CurrentTenant
      const ofClient = sql`
        contacts join emails on emails.tenant_id = contacts.tenant_id and emails.contact_id = contacts.id
        where contacts.tenant_id = ${tenant} and contacts.client_id = ${client}`
      const wanted = JSON.stringify(given.map((address) => address.toLowerCase()))
      const known = yield* Effect.orDie(sql<{ address: string }>`
        select min(address) as address from ${ofClient}
          and lower(address) in (select json_array_elements_text(${wanted}::json)) group by lower(address)`)
      const receiving = yield* Effect.orDie(sql<{ address: string }>`
        select min(address) as address from ${ofClient} and contacts.receives_invoices
        group by lower(address) order by lower(address) limit ${maxRecipients + 1}`)
      const addressesOf = (rows: typeof known) => rows.map(({ address }) => address)
      return { ofContacts: addressesOf([...known, ...receiving]), receiving: addressesOf(receiving) }
    })

    /** Inserts the event of a request. Of the document only its sequence changes. */
    const insertRequest = Effect.fnUntraced(function* (document: LockedDocument, data: object) {
      const tenant = yield* CurrentTenant
      const sequence = document.sequence + 1
      const type: EventType = `${document.kind}.send_requested`
      const at = new Date().toISOString()
      const { client, id } = document
      const event = record({
        tenant,
        type,
        resource: id,
        client,
        sequence,
        at,
        ...(yield* currentOrigin),
        data: { id, ...data }
      })
      yield* Effect.orDie(sql`
        with changed as (
          update ${sql.literal(tables[document.kind])} set sequence = ${sequence}
          where tenant_id = ${tenant} and id = ${id} returning 1
        ) ${event}`)
      const [row] = yield* Effect.orDie(sql<{ event: string }>`
        select id as event from events where tenant_id = ${tenant} and resource_id = ${id} and sequence = ${sequence}`)
      return { tenant, type, sequence, event: row?.event ?? "" }
    })

    const insertDeliveries = Effect.fnUntraced(function* (
      { event, sequence, tenant, type }: Effect.Effect.Success<ReturnType<typeof insertRequest>>,
      resource: string,
      { id: integration, config }: MailIntegration,
      recipients: ReadonlyArray<string>
    ) {
      const rows = recipients.map((recipient) => ({ id: makeId("dlv"), recipient }))
      const sharedMailBy = usesSharedMailServer(config) ? ((yield* currentSubject) ?? "") : null
      yield* Effect.orDie(sql`
        insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, recipient,
          shared_mail_by, sequence, status, next_attempt_at, created_at, updated_at)
        select ${tenant}, id, ${integration}, ${event}, ${type}, ${resource}, recipient, ${sharedMailBy}::text,
          ${sequence}::integer, 'WAITING', now(), now(), now()
        from json_to_recordset(${JSON.stringify(rows)}::json) as given (id text, recipient text)`)
      yield* Effect.orDie(
        lockAndReorderDeliveries(sql)(rows.map(({ recipient }) => ({ tenant, integration, resource, recipient })))
      )
    })

    const statusOfOutcome = sql.literal(
      "case mail.outcome when 'SENT' then 'DELIVERED' when 'REFUSED' then 'EXHAUSTED' else 'UNCERTAIN' end"
    )

    const selectRequested = (tenant: string, event: string) =>
      Effect.orDie(sql<MailDelivery>`
        select id, integration_id as integration, recipient, status, created_at as "requestedAt" from deliveries
        where event_id = ${event} and tenant_id = ${tenant} order by id`)

    /** The deliveries that still exist, and the proofs of those that do not. */
    const selectMails = ({ id, kind }: MailedDocument, tenant: string, after: string, limit: number) => sql<ListedMail>`
      with current as (
        select delivery.* from events event cross join lateral (
          select * from deliveries where event_id = event.id and tenant_id = event.tenant_id and recipient is not null
        ) delivery
        where event.tenant_id = ${tenant} and event.resource_id = ${id}
          and event.type in (${`${kind}.finalized`}, ${`${kind}.send_requested`})
      ), proven as (
        select distinct on (delivery_id) * from invoice_mails
        where tenant_id = ${tenant} and ${sql.literal(kind)}_id = ${id} order by delivery_id, round desc
      )
      select coalesce(current.id, mail.delivery_id) as id, coalesce(current.integration_id, mail.integration_id) as integration,
        coalesce(current.recipient, mail.recipient) as recipient, coalesce(current.status, ${statusOfOutcome}) as status,
        current.created_at as "requestedAt",
        case when mail.outcome in ('SENT', 'REFUSED', 'UNCERTAIN') then mail.finished_at end as "finishedAt",
        mail.message_id as "messageId", coalesce(current.error, mail.reason) as error
      from current full join proven mail on mail.delivery_id = current.id
      where coalesce(current.id, mail.delivery_id) > ${after} order by 1 limit ${limit}`

    const list = (document: MailedDocument, after: string, limit: number) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.map(Effect.orDie(selectMails(document, tenant, after, limit)), (rows) =>
          // The columns have the names of the schema's fields.
          rows.map((row) => omitNulls({ ...row }) as unknown as MailDelivery)
        )
      )

    /** Requests mails to all recipients in one transaction: the event and one delivery for each of them. */
    const send = <E, R>(lock: Effect.Effect<LockedDocument, E, R>, request: SendMail) =>
      Effect.gen(function* () {
        const { cc: givenCc = [], integrationId, message, subject, to: givenTo } = request
        const texts = { ...(subject === undefined ? {} : { subject }), ...(message === undefined ? {} : { message }) }
        yield* requireNoErrors(mailTextErrors(texts))
        const document = yield* lock
        const integration = yield* findIntegration(integrationId)
        yield* requireMailable(document.kind, document.status)
        const isShared = usesSharedMailServer(integration.config)
        if (isShared) yield* requireProviderConfigured("EMAIL", operator.missing)
        const addresses = yield* loadAddresses(document.client, [...(givenTo ?? []), ...givenCc])
        const { cc, to } = yield* resolveRecipients(request, addresses, isShared)
        const recipients = [...to, ...cc]
        if (isShared) yield* quotas.requireMails(recipients.length, "to")
        const event = yield* insertRequest(document, { integration: integration.id, to, cc, ...texts })
        yield* insertDeliveries(event, document.id, integration, recipients)
        return yield* selectRequested(event.tenant, event.event)
      }).pipe(inTransaction(sql))

    const page = (document: MailedDocument, { after, limit }: PageRequest) => list(document, after?.id ?? "", limit + 1)

    return {
      sendInvoice: (id: string, request: SendMail) => send(lockInvoice(id), request),
      sendCreditNote: (id: string, request: SendMail) => send(lockNote(id), request),

      /** One page of the mails of an invoice, oldest first, plus one if there are more. */
      pageOfInvoice: (id: string, window: PageRequest) =>
        Effect.zipRight(invoices.get(id), page({ kind: "invoice", id }, window)),
      pageOfCreditNote: (id: string, window: PageRequest) =>
        Effect.zipRight(notes.get(id), page({ kind: "credit_note", id }, window))
    }
  }).pipe(withSpans("InvoiceMails"))
}) {}
