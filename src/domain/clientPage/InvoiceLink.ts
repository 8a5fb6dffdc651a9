import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { type Invoice, InvoiceId } from "../invoicing/Invoice.ts"
import { field, optional, Timestamp } from "../Schemas.ts"

const invoice = field(InvoiceId, "The invoice.")

const viewedAt = field(
  Timestamp,
  "When the page was opened for the first time, by the client or by a program that checks the links of mails.",
  "2026-11-15T08:00:00.000Z"
)

export const InvoiceLink = Schema.Struct({
  invoice,
  url: optional(
    field(
      Schema.String,
      "Address of the page. It opens without logging in. Left out once the link is revoked.",
      "https://billing.example.com/i/7Jp0xq3m1GkQ5oT2hVnY8sLrDfWcXbZa4uEiKtMvN9w"
    )
  ),
  createdAt: field(Timestamp, "When the link was created or rotated.", "2026-11-14T09:30:00.000Z"),
  revokedAt: optional(field(Timestamp, "When the link was revoked.", "2026-11-20T10:00:00.000Z")),
  viewedAt: optional(viewedAt)
}).annotations({ identifier: "InvoiceLink", description: "The link to the page of an invoice for its client." })
export type InvoiceLink = typeof InvoiceLink.Type

/** The data of `invoice.viewed`. It says nothing about the viewer. */
export const InvoiceViewed = Schema.Struct({ id: invoice, viewedAt }).annotations({
  identifier: "InvoiceViewed",
  description: "An invoice whose page was opened for the first time."
})

/** The data of `invoice.link_rotated` and `invoice.link_revoked`. Never the link itself, which opens the page. */
export const InvoiceLinkChanged = Schema.Struct({
  id: invoice,
  changedAt: field(Timestamp, "When the link was rotated or revoked.", "2026-11-20T10:00:00.000Z")
}).annotations({
  identifier: "InvoiceLinkChanged",
  description: "An invoice whose link to its page was rotated or revoked."
})

/** 256 bits in base64url. */
const tokenPattern = /^[\w-]{43}$/

export const isLinkToken = (text: string) => tokenPattern.test(text)

export const pageUrlOf = (publicUrl: string, token: string) => `${publicUrl.replace(/\/+$/, "")}/i/${token}`

/** Fails unless the invoice was issued. Others have no page. */
export const requirePage = ({
  invoiceNumber,
  status
}: Pick<Invoice, "invoiceNumber" | "status">): Either.Either<void, ValidationError> =>
  invoiceNumber === undefined
    ? Either.left(fieldError("status", "state", `is ${status}; only an invoice that was finalized has a page`))
    : Either.void

/** Fails if the server does not know the address that links begin with. */
export const requirePublicUrl = (publicUrl: string | undefined): Either.Either<string, ValidationError> =>
  publicUrl === undefined
    ? Either.left(
        fieldError(
          "url",
          "state",
          "is unknown, because this server has no public address: the operator must set PUBLIC_URL"
        )
      )
    : Either.right(publicUrl)
