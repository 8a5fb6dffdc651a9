import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { CreditExplanation } from "../../domain/creditNotes/CreditExplanation.ts"
import {
  AllocateCreditNote,
  CreateCreditNote,
  CreditNote,
  CreditNoteId,
  CreditNoteStatus,
  PatchCreditNote,
  RefundCreditNote
} from "../../domain/creditNotes/CreditNote.ts"
import { EInvoiceCheck } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import { MailDelivery, maxRecipients, SendMail } from "../../domain/mails/Mail.ts"
import { field, optional, text } from "../../domain/Schemas.ts"
import { External, inTenant, StartsWithStatement } from "../api/Access.ts"
import { TransitionQuery } from "../api/DryRun.ts"
import { EInvoiceQuery, xmlFile } from "../api/EInvoiceFile.ts"
import { accepted, created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ creditNoteId: CreditNoteId })

const rejectedContents = [
  "an invoice that is not FINALIZED or PAID, or that is credited in full (`state`)",
  "a line that is not on the invoice (`exists`)",
  "more than what is left of a line, or of the lines with the same taxes (`max`)",
  "a total of 0, unless that of the invoice is 0 (`min`)"
]

/** How the example of a draft differs from that of a finalized note. */
const draft = { status: "DRAFT", creditNoteNumber: undefined, allocations: [], issuedAt: undefined }

export class CreditNotesApi extends HttpApiGroup.make("creditNotes")
  .annotateContext(
    tag(
      "Credit notes",
      "Invoices",
      "What is taken back of issued invoices. A note credits single lines, in part or in full, or the whole invoice. It " +
        "settles the balance of its invoice; the rest settles other invoices or is refunded."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/credit-notes")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          invoiceId: optional(field(InvoiceId, "Only notes on this invoice.")),
          clientId: optional(field(ClientId, "Only notes to this client.")),
          status: optional(CreditNoteStatus),
          number: optional(field(text(1, 100), "Only the note with this number.", "CN-2026-000001"))
        })
      )
      .addSuccess(data(Schema.Array(CreditNote)))
      .annotateContext(
        operation("List credit notes", inTenant("VIEWER"), {
          description: "Lists credit notes of the tenant by identifier, which is by age, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/credit-notes")
      .setPayload(CreateCreditNote)
      .addSuccess(data(CreditNote), created)
      .annotateContext(
        operation("Create a draft credit note", inTenant("MEMBER"), {
          description:
            "Creates a draft on an issued invoice. It reserves nothing: what it credits is computed again when it is " +
            "finalized.",
          rejects: [...rejectedContents, "an `invoiceId` that does not exist in the tenant (404)"],
          events: ["credit_note.created"],
          example: draft
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/credit-notes/:creditNoteId")
      .setPath(path)
      .addSuccess(data(CreditNote))
      .annotateContext(operation("Get a credit note", inTenant("VIEWER"), { description: "Returns one credit note." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/credit-notes/:creditNoteId")
      .setPath(path)
      .setPayload(PatchCreditNote)
      .addSuccess(data(CreditNote))
      .annotateContext(
        operation("Update a draft credit note", inTenant("MEMBER"), {
          description: "Changes the given fields of a draft and computes its amounts again.",
          rejects: ["a note that is not a DRAFT (`state`)", ...rejectedContents],
          events: ["credit_note.updated"],
          example: draft
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/credit-notes/:creditNoteId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a draft credit note", inTenant("MEMBER"), {
          description: "Deletes a draft.",
          rejects: ["a note that is not a DRAFT (`state`)"],
          events: ["credit_note.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("finalize", "/credit-notes/:creditNoteId/finalize")
      .setPath(path)
      .setUrlParams(TransitionQuery)
      .addSuccess(data(CreditNote))
      .annotateContext(
        operation("Finalize a credit note", inTenant("ADMIN"), {
          description:
            "Gives a draft its number and freezes it. It settles the balance of its invoice; what is more stays " +
            "available as `unallocatedMinor`. The contract can bill its net amount again, and what a line refers to can be " +
            "billed again once the line is credited in full.",
          rejects: ["a note that is not a DRAFT (`state`)", ...rejectedContents],
          events: ["credit_note.finalized", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("allocate", "/credit-notes/:creditNoteId/allocate")
      .setPath(path)
      .setPayload(AllocateCreditNote)
      .addSuccess(data(CreditNote))
      .annotateContext(
        operation("Allocate a credit note", inTenant("ADMIN"), {
          description: "Settles another invoice of the client with what is left of a credit note.",
          rejects: [
            "an invoice that does not exist or is not the client's (`exists`), is not FINALIZED (`state`) or is in another currency (`currency`)",
            "more than the balance of the invoice, or than what is left of the note (`max`)",
            "a note that is not FINALIZED (`state`)"
          ],
          events: ["credit_note.allocated", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("refund", "/credit-notes/:creditNoteId/refund")
      .setPath(path)
      .setPayload(RefundCreditNote)
      .addSuccess(data(CreditNote))
      .annotateContext(
        operation("Refund a credit note", inTenant("ADMIN"), {
          description: "Books that money was paid back to the client, out of what settles no invoice.",
          rejects: ["more than what is left of the note (`max`)", "a note that is not FINALIZED (`state`)"],
          events: ["credit_note.refunded"],
          example: { allocations: [], unallocatedMinor: 7982, refundedMinor: 500 }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("send", "/credit-notes/:creditNoteId/send")
      .setPath(path)
      .setPayload(SendMail)
      .addSuccess(data(Schema.Array(MailDelivery)), accepted)
      .annotateContext(
        operation("Send a credit note by mail", inTenant("ADMIN"), {
          description:
            "Sends the PDF by mail through an EMAIL integration, one mail for each recipient. Without `to`, the contacts of " +
            "the client with `receivesInvoices` get it. Without texts, those of the integration in the language of the client. " +
            "`credit_note.sent` or `credit_note.bounced` follows for each recipient.",
          rejects: [
            "a credit note that is not issued (`state`)",
            `no recipient (\`required\`), or more than ${maxRecipients} (\`maxItems\`)`,
            "an address that is not the client's, if the integration uses the mail server of the operator (`exists`)",
            "a placeholder that does not exist (`format`)",
            "an `integrationId` that does not exist (`exists`) or is no EMAIL integration (`state`), or none with several of them (`required`)",
            "more mails than the daily quota (`quota`)"
          ],
          events: ["credit_note.send_requested"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("listMails", "/credit-notes/:creditNoteId/deliveries")
      .setPath(path)
      .setUrlParams(Schema.Struct(pageQueryFields))
      .addSuccess(data(Schema.Array(MailDelivery)))
      .annotateContext(
        operation("List the mails of a credit note", inTenant("VIEWER"), {
          description:
            "Lists to whom it was sent by mail, when, and what became of each mail, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("explain", "/credit-notes/:creditNoteId/explain")
      .setPath(path)
      .addSuccess(data(CreditExplanation))
      .annotateContext(
        operation("Explain the total of a credit note", inTenant("VIEWER"), {
          description:
            "Shows how the total is computed: what is credited of each line, and discount and taxes of everything " +
            "credited with the note, less those of the notes before it. A draft is explained as if it were finalized now."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("pdf", "/credit-notes/:creditNoteId/pdf")
      .setPath(path)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/pdf" }))
      .annotateContext(
        operation("Download a credit note as PDF", inTenant("VIEWER"), {
          description:
            "Returns the note as a PDF. A finalized note is rendered once and stays the same file; if it meets EN 16931, " +
            "the file is a Factur-X hybrid with its XML. A draft is rendered for each request, with a mark."
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("checkEInvoice", "/credit-notes/:creditNoteId/e-invoice-check")
      .setPath(path)
      .addSuccess(data(EInvoiceCheck))
      .annotateContext(
        operation("Check a credit note as an e-invoice", inTenant("VIEWER"), {
          description:
            "Returns every rule of EN 16931 that the note does not meet, with the field to change and what to fill in. " +
            "Works on drafts too, before a number is given."
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("xml", "/credit-notes/:creditNoteId/xml")
      .setPath(path)
      .setUrlParams(EInvoiceQuery)
      .addSuccess(xmlFile)
      .annotateContext(
        operation("Download a credit note as XML", inTenant("VIEWER"), {
          description:
            "Returns a finalized note as an e-invoice that meets EN 16931, the European standard. It stays the same " +
            "file, because the content of a finalized note does.",
          rejects: ["a note that is a DRAFT (`state`)", "a note that does not meet the standard (`state`)"]
        })
      )
      .annotate(External, true)
  )
  .annotateEndpoints(StartsWithStatement, true) {}
