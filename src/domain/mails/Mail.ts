import { Either, Schema } from "effect"
import { EmailAddress } from "../contracting/EmailAddress.ts"
import { CreditNoteId } from "../creditNotes/CreditNote.ts"
import { DeliveryId, DeliveryStatus } from "../delivery/Delivery.ts"
import { fieldError, type ValidationError } from "../Errors.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { InvoiceId } from "../invoicing/Invoice.ts"
import { body, field, maxItems, nonEmptyArray, optional, Timestamp } from "../Schemas.ts"
import { type MailedKind, mailTextFields } from "./MailTexts.ts"

/** Maximum number of recipients of one request. */
export const maxRecipients = 20

/**
 * SENT: the server accepted it. REFUSED: the server never will. RETRY: another attempt follows. UNCERTAIN: it may have
 * been sent.
 */
export type MailOutcome = "SENT" | "REFUSED" | "RETRY" | "UNCERTAIN"

export interface MailedDocument {
  readonly kind: MailedKind
  readonly id: string
}

const address = "ada.larsen@northwind.example"

export const SendMail = body({
  to: optional(
    field(
      nonEmptyArray(EmailAddress, maxRecipients),
      "Who gets it. Default: the contacts of the client with `receivesInvoices`.",
      [address]
    )
  ),
  cc: optional(
    field(Schema.Array(EmailAddress).pipe(maxItems(maxRecipients)), "Who gets a copy.", ["books@northwind.example"])
  ),
  ...mailTextFields,
  integrationId: optional(
    field(IntegrationId, "The EMAIL integration that sends it. Default: the only one of the tenant.")
  )
}).annotations({ identifier: "SendMail", description: "Who gets the document by mail, and with which text." })
export type SendMail = typeof SendMail.Type

/** A mail to one recipient, while its delivery exists and after. */
export const MailDelivery = Schema.Struct({
  id: field(DeliveryId, "The delivery of the mail. Deliveries are deleted after some time, and this list stays."),
  integration: field(IntegrationId, "The EMAIL integration that sends it."),
  recipient: field(Schema.String, "The address that it goes to.", address),
  status: DeliveryStatus,
  requestedAt: optional(
    field(Timestamp, "When it was requested, while the delivery exists.", "2026-11-14T09:30:00.000Z")
  ),
  finishedAt: optional(field(Timestamp, "When the mail server accepted or refused it.", "2026-11-14T09:30:05.000Z")),
  messageId: optional(field(Schema.String, "The Message-ID of the mail.", "<evt_1@mail.example.com>")),
  error: optional(field(Schema.String, "Why it was not sent.", "mail.example.com answered 550 unknown recipient"))
}).annotations({ identifier: "MailDelivery", description: "A document on its way to one recipient by mail." })
export type MailDelivery = typeof MailDelivery.Type

const requestFields = {
  integration: field(IntegrationId, "The EMAIL integration that sends it."),
  to: field(Schema.Array(Schema.String), "Who gets it.", [address]),
  cc: field(Schema.Array(Schema.String), "Who gets a copy.", []),
  ...mailTextFields
}

const resultFields = {
  delivery: field(DeliveryId, "The delivery of the mail."),
  integration: field(IntegrationId, "The EMAIL integration that sent it."),
  recipient: field(Schema.String, "The address of the mail.", address),
  messageId: field(Schema.String, "The Message-ID of the mail.", "<evt_1@mail.example.com>"),
  reason: optional(field(Schema.String, "Why the mail server refused it.", "mail.example.com answered 550 unknown"))
}

const invoiceId = field(InvoiceId, "The invoice.")
const creditNoteId = field(CreditNoteId, "The credit note.")

/** The data of events about mails. */
export const InvoiceSendRequested = Schema.Struct({ id: invoiceId, ...requestFields }).annotations({
  identifier: "InvoiceSendRequested",
  description: "Who is to get an invoice by mail."
})
export const CreditNoteSendRequested = Schema.Struct({ id: creditNoteId, ...requestFields }).annotations({
  identifier: "CreditNoteSendRequested",
  description: "Who is to get a credit note by mail."
})
export const InvoiceMailed = Schema.Struct({ id: invoiceId, ...resultFields }).annotations({
  identifier: "InvoiceMailed",
  description: "An invoice that the mail server accepted or refused for one recipient."
})
export const CreditNoteMailed = Schema.Struct({ id: creditNoteId, ...resultFields }).annotations({
  identifier: "CreditNoteMailed",
  description: "A credit note that the mail server accepted or refused for one recipient."
})

/** What a mail needs of the event that requests it. Other events request it for one recipient, with default texts. */
export const MailRequest = Schema.Struct({
  to: optional(requestFields.to),
  cc: optional(requestFields.cc),
  ...mailTextFields
})
export type MailRequest = typeof MailRequest.Type

const issuedStatuses: Readonly<Record<MailedKind, ReadonlyArray<string>>> = {
  invoice: ["FINALIZED", "PAID"],
  credit_note: ["FINALIZED"]
}

const kindNames: Readonly<Record<MailedKind, string>> = { invoice: "an invoice", credit_note: "a credit note" }

export const isMailable = (kind: MailedKind, status: string) => issuedStatuses[kind].includes(status)

/** Fails unless the document is issued. */
export const requireMailable = (kind: MailedKind, status: string): Either.Either<void, ValidationError> =>
  isMailable(kind, status)
    ? Either.void
    : Either.left(
        fieldError(
          "status",
          "state",
          `is ${status}; only ${kindNames[kind]} that is ${issuedStatuses[kind].join(" or ")} can be sent`
        )
      )

const isSameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

const distinct = (addresses: ReadonlyArray<string>) =>
  addresses.filter((address, n) => addresses.findIndex((other) => isSameAddress(address, other)) === n)

interface Addresses {
  /** The addresses of all contacts of the client. */
  readonly ofContacts: ReadonlyArray<string>
  /** Those of the contacts that receive invoices. */
  readonly receiving: ReadonlyArray<string>
}

/** Fails for addresses that are not the client's. The server of the operator must not send mails to strangers. */
const requireContacts = (field: "to" | "cc", given: ReadonlyArray<string>, { ofContacts }: Addresses) => {
  const stranger = given.find((address) => !ofContacts.some((known) => isSameAddress(known, address)))
  return stranger === undefined
    ? Either.void
    : Either.left(
        fieldError(
          field,
          "exists",
          `must be addresses of contacts of the client, because the integration has no mail server of its own, but ${stranger} is not`
        )
      )
}

/** The recipients of a request. `isShared` tells that the mail server of the operator sends it. */
export const resolveRecipients = (
  { cc: givenCc = [], to: givenTo }: Pick<SendMail, "to" | "cc">,
  addresses: Addresses,
  isShared: boolean
): Either.Either<{ readonly to: ReadonlyArray<string>; readonly cc: ReadonlyArray<string> }, ValidationError> =>
  Either.gen(function* () {
    const to = distinct(givenTo ?? addresses.receiving)
    if (to.length === 0) {
      return yield* Either.left(
        fieldError("to", "required", "is required, because no contact of the client with an email has receivesInvoices")
      )
    }
    const cc = distinct(givenCc).filter((copied) => !to.some((address) => isSameAddress(copied, address)))
    if (to.length + cc.length > maxRecipients) {
      const message = `must have at most ${maxRecipients} recipients together with cc, but has ${to.length + cc.length}`
      return yield* Either.left(fieldError("to", "maxItems", message))
    }
    if (isShared) {
      yield* requireContacts("to", to, addresses)
      yield* requireContacts("cc", cc, addresses)
    }
    return { to, cc }
  })

interface MailIntegration {
  readonly id: string
  readonly provider: string
}

const rejectIntegration = (constraint: "exists" | "state" | "required", message: string) =>
  Either.left(fieldError("integrationId", constraint, message))

/** Chooses the integration that sends mails: the given one, or else the only one with the provider EMAIL. */
export const requireMailIntegration = <A extends MailIntegration>(
  integrations: ReadonlyArray<A>,
  given: string | undefined
): Either.Either<A, ValidationError> => {
  if (given !== undefined) {
    const found = integrations.find(({ id }) => id === given)
    if (found === undefined) return rejectIntegration("exists", "does not exist in this tenant")
    return found.provider === "EMAIL"
      ? Either.right(found)
      : rejectIntegration("state", `is a ${found.provider} integration; only EMAIL integrations send mails`)
  }
  const [only, ...others] = integrations.filter(({ provider }) => provider === "EMAIL")
  if (only === undefined)
    return rejectIntegration("required", "is required, and the tenant has no EMAIL integration yet")
  return others.length === 0
    ? Either.right(only)
    : rejectIntegration("required", `is required, because the tenant has ${others.length + 1} EMAIL integrations`)
}
