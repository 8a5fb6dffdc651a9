import { Schema } from "effect"
import { Asset } from "../branding/Asset.ts"
import { Address } from "../contracting/Address.ts"
import { Client } from "../contracting/Client.ts"
import { Contact } from "../contracting/Contact.ts"
import { Contract } from "../contracting/Contract.ts"
import { Email } from "../contracting/Email.ts"
import { Project } from "../contracting/Project.ts"
import { Integration } from "../integrations/Integration.ts"
import { Billable } from "../invoicing/Billable.ts"
import { Invoice } from "../invoicing/Invoice.ts"
import { InvoiceSeries } from "../invoicing/InvoiceNumber.ts"
import { type Constraint, ConstraintId } from "../Schemas.ts"
import { Member } from "../tenancy/Member.ts"
import { Tenant } from "../tenancy/Tenant.ts"
import { ReferenceChanged } from "../tracker/ReferenceChanged.ts"
import { TrackedIssue } from "../tracker/TrackedIssue.ts"

interface Entry {
  /** How events show the resource. */
  readonly shown: Schema.Schema.AnyNoContext
  readonly actions: ReadonlyArray<string>
  /** How events of some actions show more than that. */
  readonly shownBy?: Readonly<Record<string, Schema.Schema.AnyNoContext>>
}

const life = ["created", "updated", "deleted"] as const

/** Every resource events tell of, and all that can happen to it: an event's type is `<resource>.<action>`. */
export const catalogue = {
  tenant: { shown: Tenant, actions: life },
  member: { shown: Member, actions: life },
  client: { shown: Client, actions: life },
  address: { shown: Address, actions: life },
  contact: { shown: Contact, actions: life },
  email: { shown: Email, actions: life },
  contract: { shown: Contract, actions: life },
  project: { shown: Project, actions: life },
  invoice: { shown: Invoice, actions: [...life, "finalized", "paid", "voided"] },
  invoice_series: { shown: InvoiceSeries, actions: ["updated"] },
  billable: {
    shown: Billable,
    actions: [...life, "reference_changed"],
    shownBy: { reference_changed: ReferenceChanged }
  },
  asset: { shown: Asset, actions: [...life, "ready", "failed"] },
  integration: { shown: Integration, actions: [...life, "paused", "resumed", "error", "ping"] },
  issue: { shown: TrackedIssue, actions: life }
} as const satisfies Readonly<Record<string, Entry>>

export type ResourceName = keyof typeof catalogue
export type ActionOf<N extends ResourceName> = (typeof catalogue)[N]["actions"][number]
export type EventType = { readonly [N in ResourceName]: `${N}.${ActionOf<N>}` }[ResourceName]

const entries: ReadonlyArray<readonly [string, Entry]> = Object.entries(catalogue)

/** Every event type with how its events show the resource. */
export const eventTypes = entries.flatMap(([resource, { actions, shown, shownBy }]) =>
  // The entries of the catalogue forget which action is whose.
  actions.map((action) => ({ type: `${resource}.${action}` as EventType, shown: shownBy?.[action] ?? shown }))
)

/** One event type, or with `*` all of one resource. */
export type EventPattern = EventType | `${ResourceName}.*`

const patterns: ReadonlyArray<EventPattern> = [
  ...eventTypes.map(({ type }) => type),
  ...entries.map(([resource]) => `${resource as ResourceName}.*` as const) // a key of the catalogue
]

export const EventPattern = Schema.Literal(...patterns).annotations({
  identifier: "EventPattern",
  description: "An event type, or all of one resource",
  [ConstraintId]: "enum" satisfies Constraint,
  message: () => ({
    message: "must be an event type such as client.created, or client.* for all of them",
    override: true
  })
})

/** The types a pattern stands for. */
export const typesOf = (pattern: EventPattern): ReadonlyArray<EventType> =>
  eventTypes.map(({ type }) => type).filter((type) => type === pattern || `${type.split(".")[0]}.*` === pattern)
