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
import { ReferenceChanged } from "../tracker/ReferenceChanged.ts"
import { TrackedIssue } from "../tracker/TrackedIssue.ts"

interface Entry {
  /** The schema of the resource in events. */
  readonly schema: Schema.Schema.AnyNoContext
  readonly actions: ReadonlyArray<keyof typeof actionTexts>
  /** Schemas of the actions whose events contain more. */
  readonly schemaByAction?: Readonly<Record<string, Schema.Schema.AnyNoContext>>
}

const crudActions = ["created", "updated", "deleted"] as const

/** What happened to the resource. Completes a sentence that begins with the resource. */
const actionTexts = {
  created: "was created",
  updated: "was changed",
  deleted: "was deleted",
  finalized: "was finalized and has its number",
  paid: "was paid in full",
  reopened: "has a balance again, because a payment or a write-off was reversed",
  written_off: "was written off in full or in part",
  recorded: "was recorded",
  allocated: "settles an invoice",
  reversed: "was reversed with its allocations",
  refunded: "was paid back in full or in part",
  voided: "was voided",
  send_requested: "is to be sent by mail",
  sent: "was accepted by the mail server for one recipient",
  bounced: "was refused by the mail server for one recipient",
  viewed: "was opened on its page for the first time",
  link_rotated: "has a new link to its page, and the one before opens nothing any more",
  link_revoked: "has no link to its page any more",
  archived: "was archived and can no longer be used",
  reference_changed: "bills an issue that changed in the tracker",
  ready: "was verified and can be shown",
  failed: "was rejected: the uploaded file is not the declared image",
  paused: "was paused",
  resumed: "was resumed",
  error: "was stopped by an error",
  ping: "was pinged by a user"
} as const

/** All resources with events, and their actions. An event type is `<resource>.<action>`. */
export const eventCatalogue = {
  tenant: { schema: Tenant, actions: crudActions },
  member: { schema: Member, actions: crudActions },
  client: { schema: Client, actions: crudActions },
  address: { schema: Address, actions: crudActions },
  contact: { schema: Contact, actions: crudActions },
  email: { schema: Email, actions: crudActions },
  contract: { schema: Contract, actions: crudActions },
  project: { schema: Project, actions: crudActions },
  invoice: {
    schema: Invoice,
    actions: [
      ...crudActions,
      "finalized",
      "paid",
      "reopened",
      "written_off",
      "voided",
      "send_requested",
      "sent",
      "bounced",
      "viewed",
      "link_rotated",
      "link_revoked"
    ],
    schemaByAction: {
      send_requested: InvoiceSendRequested,
      sent: InvoiceMailed,
      bounced: InvoiceMailed,
      viewed: InvoiceViewed,
      link_rotated: InvoiceLinkChanged,
      link_revoked: InvoiceLinkChanged
    }
  },
  invoice_series: { schema: InvoiceSeries, actions: ["updated"] },
  billable: {
    schema: Billable,
    actions: [...crudActions, "reference_changed"],
    schemaByAction: { reference_changed: ReferenceChanged }
  },
  payment: { schema: Payment, actions: ["recorded", "allocated", "reversed", "refunded"] },
  credit_note: {
    schema: CreditNote,
    actions: [...crudActions, "finalized", "allocated", "refunded", "send_requested", "sent", "bounced"],
    schemaByAction: { send_requested: CreditNoteSendRequested, sent: CreditNoteMailed, bounced: CreditNoteMailed }
  },
  credit_note_series: { schema: CreditNoteSeries, actions: ["updated"] },
  tax_rate: { schema: TaxRate, actions: ["created", "updated", "archived"] },
  asset: { schema: Asset, actions: [...crudActions, "ready", "failed"] },
  integration: { schema: Integration, actions: [...crudActions, "paused", "resumed", "error", "ping"] },
  issue: { schema: TrackedIssue, actions: crudActions }
} as const satisfies Readonly<Record<string, Entry>>

export type ResourceName = keyof typeof eventCatalogue
export type ActionOf<N extends ResourceName> = (typeof eventCatalogue)[N]["actions"][number]
export type EventType = { readonly [N in ResourceName]: `${N}.${ActionOf<N>}` }[ResourceName]

const entries: ReadonlyArray<readonly [string, Entry]> = Object.entries(eventCatalogue)

/** Every event type with the schema of its data. */
export const eventTypes = entries.flatMap(([resource, { actions, schema, schemaByAction }]) =>
  // Object.entries loses which action belongs to which resource.
  actions.map((action) => ({ type: `${resource}.${action}` as EventType, schema: schemaByAction?.[action] ?? schema }))
)

/** A sentence about an event type: "An invoice was voided." */
export const describeEvent = (type: EventType) => {
  const [resource = "", action = ""] = type.split(".")
  const article = /^[aeiou]/.test(resource) ? "An" : "A"
  const actionText = actionTexts[action as keyof typeof actionTexts] // split widens the action
  return `${article} ${resource.replaceAll("_", " ")} ${actionText}.`
}

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
