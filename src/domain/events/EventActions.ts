/** What happened to a resource. Completes a sentence that begins with the resource. */
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

export type EventAction = keyof typeof actionTexts

const crudActions = ["created", "updated", "deleted"] as const

/** The actions of every resource with events. An event type is `<resource>.<action>`. */
export const eventActions = {
  tenant: crudActions,
  member: crudActions,
  client: crudActions,
  address: crudActions,
  contact: crudActions,
  email: crudActions,
  contract: crudActions,
  project: crudActions,
  invoice: [
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
  invoice_series: ["updated"],
  billable: [...crudActions, "reference_changed"],
  payment: ["recorded", "allocated", "reversed", "refunded"],
  credit_note: [...crudActions, "finalized", "allocated", "refunded", "send_requested", "sent", "bounced"],
  credit_note_series: ["updated"],
  tax_rate: ["created", "updated", "archived"],
  asset: [...crudActions, "ready", "failed"],
  integration: [...crudActions, "paused", "resumed", "error", "ping"],
  issue: crudActions
} as const satisfies Readonly<Record<string, ReadonlyArray<EventAction>>>

const isAction = (text: string): text is EventAction => text in actionTexts

/** A sentence about an event type: "An invoice was voided." */
export const describeEvent = (type: string) => {
  const [resource = "", action = ""] = type.split(".")
  const article = /^[aeiou]/.test(resource) ? "An" : "A"
  return `${article} ${resource.replaceAll("_", " ")} ${isAction(action) ? actionTexts[action] : action}.`
}
