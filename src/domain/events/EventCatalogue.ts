import { Schema } from "effect"
import { Asset } from "../branding/Asset.ts"
import type { Constraint } from "../Constraints.ts"
import { InvoiceLinkChanged, InvoiceViewed } from "../clientPage/InvoiceLink.ts"
import { Address } from "../contracting/Address.ts"
import { Client } from "../contracting/Client.ts"
import { Contact } from "../contracting/Contact.ts"
import { Contract } from "../contracting/Contract.ts"
import { Email } from "../contracting/Email.ts"
import { Project } from "../contracting/Project.ts"
import { CreditNote } from "../creditNotes/CreditNote.ts"
import { Integration } from "../integrations/Integration.ts"
import { Billable } from "../invoicing/Billable.ts"
import { Invoice } from "../invoicing/Invoice.ts"
import { CreditNoteSeries, InvoiceSeries } from "../invoicing/NumberSeries.ts"
import { CreditNoteMailed, CreditNoteSendRequested, InvoiceMailed, InvoiceSendRequested } from "../mails/Mail.ts"
import { Payment } from "../payments/Payment.ts"
import { butIs } from "../RejectedValue.ts"
import { ConstraintId } from "../Schemas.ts"
import { TaxRate } from "../taxes/TaxRate.ts"
import { Member } from "../tenancy/Member.ts"
import { Tenant } from "../tenancy/Tenant.ts"
import { ReferenceChanged } from "../trackers/ReferenceChanged.ts"
import { TrackedIssue } from "../trackers/TrackedIssue.ts"
import { type EventAction, eventActions } from "./EventActions.ts"

interface Entry {
  /** The schema of the resource in events. */
  readonly schema: Schema.Schema.AnyNoContext
  readonly actions: ReadonlyArray<EventAction>
  /** Schemas of the actions whose events contain more. */
  readonly schemaByAction?: Readonly<Record<string, Schema.Schema.AnyNoContext>>
}

/** All resources with events, and their actions. An event type is `<resource>.<action>`. */
export const eventCatalogue = {
  tenant: { schema: Tenant, actions: eventActions.tenant },
  member: { schema: Member, actions: eventActions.member },
  client: { schema: Client, actions: eventActions.client },
  address: { schema: Address, actions: eventActions.address },
  contact: { schema: Contact, actions: eventActions.contact },
  email: { schema: Email, actions: eventActions.email },
  contract: { schema: Contract, actions: eventActions.contract },
  project: { schema: Project, actions: eventActions.project },
  invoice: {
    schema: Invoice,
    actions: eventActions.invoice,
    schemaByAction: {
      send_requested: InvoiceSendRequested,
      sent: InvoiceMailed,
      bounced: InvoiceMailed,
      viewed: InvoiceViewed,
      link_rotated: InvoiceLinkChanged,
      link_revoked: InvoiceLinkChanged
    }
  },
  invoice_series: { schema: InvoiceSeries, actions: eventActions.invoice_series },
  billable: {
    schema: Billable,
    actions: eventActions.billable,
    schemaByAction: { reference_changed: ReferenceChanged }
  },
  payment: { schema: Payment, actions: eventActions.payment },
  credit_note: {
    schema: CreditNote,
    actions: eventActions.credit_note,
    schemaByAction: { send_requested: CreditNoteSendRequested, sent: CreditNoteMailed, bounced: CreditNoteMailed }
  },
  credit_note_series: { schema: CreditNoteSeries, actions: eventActions.credit_note_series },
  tax_rate: { schema: TaxRate, actions: eventActions.tax_rate },
  asset: { schema: Asset, actions: eventActions.asset },
  integration: { schema: Integration, actions: eventActions.integration },
  issue: { schema: TrackedIssue, actions: eventActions.issue }
} as const satisfies Readonly<Record<keyof typeof eventActions, Entry>>

export type ResourceName = keyof typeof eventCatalogue
export type ActionOf<N extends ResourceName> = (typeof eventActions)[N][number]
export type EventType = { readonly [N in ResourceName]: `${N}.${ActionOf<N>}` }[ResourceName]

const entries: ReadonlyArray<readonly [string, Entry]> = Object.entries(eventCatalogue)

/** Every event type with the schema of its data. */
export const eventTypes = entries.flatMap(([resource, { actions, schema, schemaByAction }]) =>
  // Object.entries loses which action belongs to which resource.
  actions.map((action) => ({ type: `${resource}.${action}` as EventType, schema: schemaByAction?.[action] ?? schema }))
)

/** An event type, or `<resource>.*` for all types of a resource. */
export type EventPattern = EventType | `${ResourceName}.*`

const patterns: ReadonlyArray<EventPattern> = [
  ...eventTypes.map(({ type }) => type),
  ...entries.map(([resource]) => `${resource as ResourceName}.*` as const) // a key of the catalogue
]

export const EventPattern = Schema.Literal(...patterns).annotations({
  identifier: "EventPattern",
  description: "An event type, or `<resource>.*` for all types of a resource.",
  examples: ["invoice.*"],
  [ConstraintId]: "enum" satisfies Constraint,
  message: ({ actual }) => ({
    message: butIs("must be an event type such as client.created, or client.* for all events of a resource")(actual),
    override: true
  })
})

/** The event types that match a pattern. */
export const expandEventPattern = (pattern: EventPattern): ReadonlyArray<EventType> =>
  eventTypes.map(({ type }) => type).filter((type) => type === pattern || `${type.split(".")[0]}.*` === pattern)
