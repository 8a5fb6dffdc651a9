import { Either, Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { fieldError, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { BillableId, Quantity } from "../invoicing/Billable.ts"
import { Invoice, InvoiceId } from "../invoicing/Invoice.ts"
import { maxMinor } from "../money/Money.ts"
import { allocationFields, NewAllocation, newRefundFields } from "../payments/Allocation.ts"
import {
  body,
  field,
  integer,
  nonEmptyArray,
  oneOf,
  optional,
  patch,
  rule,
  Timestamp,
  text,
  timestamps
} from "../Schemas.ts"

export const CreditNoteId = id("crn", "credit note")

/** Maximum number of lines that a note names. `full` credits any number. */
export const maxCreditLines = 500

export const CreditNoteStatus = field(
  oneOf("DRAFT", "FINALIZED"),
  "DRAFT: it can be changed and credits nothing yet. FINALIZED: numbered and frozen.",
  "FINALIZED"
)
export type CreditNoteStatus = typeof CreditNoteStatus.Type

const MinorAmount = integer(-maxMinor, maxMinor)

const CreditLine = Schema.Struct({
  billable: field(BillableId, "The line of the invoice."),
  quantity: optional(field(Quantity, "The credited quantity, if the line is credited by quantity.", 1)),
  amountMinor: field(MinorAmount, "Net amount that is credited of the line, in minor units.", 7920)
}).annotations({ description: "What is credited of a line." })
export type CreditLine = typeof CreditLine.Type

const NewCreditLine = body({
  billableId: field(BillableId, "The line of the invoice."),
  quantity: optional(
    field(Quantity, "How much of the line's quantity is credited. It has the sign of that quantity.", 1)
  ),
  amountMinor: optional(
    field(MinorAmount, "Net amount to credit, in minor units. It has the sign of the line's total.", 7920)
  )
})
  .pipe(
    Schema.filter(
      ({ amountMinor, quantity }) => (amountMinor === undefined) !== (quantity === undefined),
      rule("required", "must have exactly one of quantity and amountMinor")
    )
  )
  .annotations({ description: "A line to credit, by quantity or by net amount." })
export type NewCreditLine = typeof NewCreditLine.Type

const haveDistinctLines = (lines: ReadonlyArray<NewCreditLine>) =>
  new Set(lines.map(({ billableId }) => billableId)).size === lines.length

const reason = field(text(1, 500), "Why the client gets it, as the note shows it.", "One pump was not inspected")

const content = {
  lines: field(
    nonEmptyArray(NewCreditLine, maxCreditLines).pipe(
      Schema.filter(haveDistinctLines, rule("unique", "must not contain a billable twice"))
    ),
    "The lines of the invoice to credit, each by quantity or by net amount."
  ),
  full: field(Schema.Boolean, "With `true`, credits everything that is left of the invoice, without `lines`.", false)
}

export const CreditNote = Schema.Struct({
  id: CreditNoteId,
  invoice: field(InvoiceId, "The credited invoice."),
  client: field(ClientId, "The client of the invoice."),
  status: CreditNoteStatus,
  creditNoteNumber: optional(
    field(text(1, 100), "Number for the client, given when the note is finalized.", "CN-2026-000001")
  ),
  currencyCode: Invoice.fields.currencyCode,
  reason,
  full: field(Schema.Boolean, "Whether it credits everything that is left of the invoice.", false),
  lines: field(
    Schema.Array(CreditLine),
    "The credited lines. Empty with `full`, which credits every line: see `GET /credit-notes/{creditNoteId}/explain`."
  ),
  subtotalMinor: field(MinorAmount, "Sum of the credited net amounts, in minor units.", 7920),
  discountMinor: field(MinorAmount, "Their share of the invoice's discount, in minor units.", 792),
  taxes: field(Invoice.fields.taxes, "The credited taxes, in the order of the invoice."),
  taxMinor: field(MinorAmount, "Sum of the credited taxes, in minor units.", 1354),
  totalMinor: field(integer(0, maxMinor), "What is credited: subtotal less discount plus taxes.", 8482),
  ...allocationFields,
  issuedAt: optional(field(Timestamp, "When the note was finalized.", "2026-11-28T09:30:00.000Z")),
  createdBy: optional(field(Schema.String, "Subject of the user that created it.", "alice")),
  ...timestamps
}).annotations({
  identifier: "CreditNote",
  description:
    "What is taken back of an issued invoice. It settles the invoice first; the rest can be used or refunded."
})
export type CreditNote = typeof CreditNote.Type

const hasOneContent = ({
  full = false,
  lines
}: {
  readonly full?: boolean | undefined
  readonly lines?: ReadonlyArray<NewCreditLine> | undefined
}) => (lines !== undefined) !== full

const oneContent = rule("required", "must have exactly one of lines and full: true")

export const CreateCreditNote = body({
  invoiceId: field(InvoiceId, "The FINALIZED or PAID invoice to credit."),
  reason,
  lines: optional(content.lines),
  full: optional(content.full)
})
  .pipe(Schema.filter(hasOneContent, oneContent))
  .annotations({ identifier: "CreateCreditNote", description: "A new draft of a credit note." })

export const PatchCreditNote = patch({ reason, ...content })
  .pipe(
    Schema.filter(
      ({ full, lines }) => (lines === undefined && full === undefined) || hasOneContent({ full, lines }),
      oneContent
    )
  )
  .annotations({
    identifier: "PatchCreditNote",
    description: "The fields of a draft to change. `lines` replaces `full`, and `full` replaces the lines."
  })

export const AllocateCreditNote = NewAllocation.annotations({
  identifier: "AllocateCreditNote",
  description: "An invoice to settle with what is left of a credit note."
})

export const RefundCreditNote = body(newRefundFields).annotations({
  identifier: "RefundCreditNote",
  description: "Money that is paid back to the client for a credit note."
})

const requireStatus = (
  { status }: Pick<CreditNote, "status">,
  expected: CreditNoteStatus,
  change: string
): Either.Either<void, ValidationError> =>
  status === expected
    ? Either.void
    : Either.left(fieldError("status", "state", `is ${status}; only a ${expected} credit note can be ${change}`))

/** Fails unless the note can be changed, deleted and finalized. */
export const requireDraft = (note: Pick<CreditNote, "status">) => requireStatus(note, "DRAFT", "changed or finalized")

/** Fails unless the note can settle invoices and be refunded. */
export const requireIssued = (note: Pick<CreditNote, "status">) => requireStatus(note, "FINALIZED", "used")
