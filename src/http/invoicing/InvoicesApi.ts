import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { ContractId } from "../../domain/contracting/Contract.ts"
import { EInvoiceCheck } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { Explanation } from "../../domain/invoicing/Explanation.ts"
import { CreateInvoice, Invoice, InvoiceId, invoiceSorts, PatchInvoice } from "../../domain/invoicing/Invoice.ts"
import { InvoiceStatus, invoiceTransitions } from "../../domain/invoicing/InvoiceStatus.ts"
import { LocalDate } from "../../domain/locale/TimeZone.ts"
import { MailDelivery, maxRecipients, SendMail } from "../../domain/mails/Mail.ts"
import { field, optional, QueryBoolean, text } from "../../domain/Schemas.ts"
import { WriteOff } from "../../domain/settlement/Settlement.ts"
import { External, inTenant, StartsWithStatement } from "../api/Access.ts"
import { TransitionQuery } from "../api/DryRun.ts"
import { EInvoiceQuery, xmlFile } from "../api/EInvoiceFile.ts"
import { accepted, created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields, searchParameter, sortParameter } from "../api/Paging.ts"

const path = Schema.Struct({ invoiceId: InvoiceId })

/** How the example of a new invoice differs from that of a finalized one. */
const emptyDraft = {
  status: "DRAFT",
  invoiceNumber: undefined,
  subtotalMinor: 0,
  discountMinor: 0,
  taxes: [],
  taxMinor: 0,
  totalMinor: 0,
  balanceMinor: 0,
  billableCount: 0,
  issuedAt: undefined
}

export class InvoicesApi extends HttpApiGroup.make("invoices")
  .annotateContext(
    tag(
      "Invoices",
      "Invoices",
      "What clients owe under a contract. A DRAFT collects lines, FINALIZED gives it a number and freezes " +
        "it, then it is PAID or VOID."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/invoices")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          contractId: optional(field(ContractId, "Only invoices of this contract.")),
          status: optional(InvoiceStatus),
          overdue: optional(field(QueryBoolean, "Whether the invoice is FINALIZED and past its due date.")),
          clientId: optional(field(ClientId, "Only invoices to this client.")),
          issuedFrom: optional(
            field(LocalDate, "Only invoices issued on this day or later, in the time zone of the tenant.", "2026-01-01")
          ),
          issuedTo: optional(
            field(
              LocalDate,
              "Only invoices issued on this day or earlier, in the time zone of the tenant.",
              "2026-03-31"
            )
          ),
          number: optional(field(text(1, 100), "Only the invoice with this number.", "INV-2026-000042")),
          ...searchParameter("the number or the name of the client"),
          ...sortParameter(invoiceSorts, "identifier, which is by age")
        })
      )
      .addSuccess(data(Schema.Array(Invoice)))
      .annotateContext(
        operation("List invoices", inTenant("VIEWER"), {
          description:
            "Lists invoices of the tenant by identifier, which is by age, one page at a time. Filters by " +
            "contract, client, status, number, days of issue, text, and whether payment is overdue."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/invoices")
      .setPayload(CreateInvoice)
      .addSuccess(data(Invoice), created)
      .annotateContext(
        operation("Create a draft invoice", inTenant("MEMBER"), {
          description:
            "Creates an empty draft under a contract, in the currency of the contract. Add its lines as billables.",
          rejects: [
            "a contract that is a DRAFT (`state`)",
            "another currency than that of the contract (`currency`)",
            "a `discountReason` without a `discount`, or one of `taxCurrencyCode` and `taxCurrencyRate` alone (`required`)",
            "a `taxCurrencyCode` that is the currency of the invoice (`currency`)",
            "a `serviceTo` before `serviceFrom` (`min`)",
            "a `contractId` that does not exist in the tenant (404)"
          ],
          events: ["invoice.created"],
          example: emptyDraft
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/invoices/:invoiceId")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Get an invoice", inTenant("VIEWER"), {
          description:
            "Returns one invoice with its totals. Its lines are billables: list them with `GET /billables?invoiceId=`."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/invoices/:invoiceId")
      .setPath(path)
      .setPayload(PatchInvoice)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Update a draft invoice", inTenant("MEMBER"), {
          description: "Changes the given fields of a draft and updates its totals.",
          rejects: [
            "an invoice that is not a DRAFT (`state`)",
            "a `discountReason` without a `discount`, or one of `taxCurrencyCode` and `taxCurrencyRate` alone (`required`)",
            "a `taxCurrencyCode` that is the currency of the invoice (`currency`)",
            "a `serviceTo` before `serviceFrom` (`min`)",
            "an amount beyond the cap of the contract (`max`)"
          ],
          events: ["invoice.updated"],
          example: emptyDraft
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/invoices/:invoiceId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a draft invoice", inTenant("MEMBER"), {
          description: "Deletes a draft with its lines. What they refer to can be billed again.",
          rejects: ["an invoice that is not a DRAFT (`state`)"],
          events: ["billable.deleted", "invoice.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("finalize", "/invoices/:invoiceId/finalize")
      .setPath(path)
      .setUrlParams(TransitionQuery)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Finalize an invoice", inTenant(invoiceTransitions.finalize.role), {
          description:
            "Gives a draft its number and its date of issue, and freezes it: number, parties, lines and " +
            "totals never change again. Numbers of a series have no gaps. The due date is `dueAt`, or the " +
            "payment term of the contract after the issue. An invoice with a total of 0 is PAID at once.",
          rejects: [
            "an invoice that is not a DRAFT (`state`)",
            "an invoice without lines, or with a negative total (`min`)",
            "a `dueAt` before the issue (`min`)",
            "a fixed discount above the sum of the lines (`max`)",
            "taxes of category AE or K without the VAT numbers of both parties (`required`)"
          ],
          events: [`invoice.${invoiceTransitions.finalize.event}`, `invoice.${invoiceTransitions.pay.event}`]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("pay", "/invoices/:invoiceId/pay")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Mark an invoice as paid", inTenant(invoiceTransitions.pay.role), {
          description:
            "Records a payment of the whole balance of a finalized invoice, received now. With a balance of 0 it records " +
            "none. To record a part, or a payment of several invoices, use `POST /payments`.",
          rejects: ["an invoice that is not FINALIZED (`state`)"],
          events: ["payment.recorded", `invoice.${invoiceTransitions.pay.event}`],
          example: { status: "PAID", paidMinor: 21_206, balanceMinor: 0, paidAt: "2026-12-01T10:00:00.000Z" }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("writeOff", "/invoices/:invoiceId/write-off")
      .setPath(path)
      .setPayload(WriteOff)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Write off an invoice", inTenant("ADMIN"), {
          description:
            "Gives up the balance of a finalized invoice, or a part of it. An invoice without a balance is PAID.",
          rejects: ["an invoice that is not FINALIZED (`state`)", "more than the balance (`max`)"],
          events: ["invoice.written_off"],
          example: { status: "PAID", writtenOffMinor: 21_206, balanceMinor: 0, paidAt: "2026-12-01T10:00:00.000Z" }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("reverseWriteOff", "/invoices/:invoiceId/write-off/reverse")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Reverse the write-off of an invoice", inTenant("ADMIN"), {
          description:
            "Takes back all that was written off. The invoice has that balance again, less what its own credit notes have " +
            "left.",
          rejects: ["an invoice of which nothing is written off (`state`)"],
          events: ["invoice.reopened", "invoice.updated", "credit_note.allocated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("void", "/invoices/:invoiceId/void")
      .setPath(path)
      .setUrlParams(TransitionQuery)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Void an invoice", inTenant(invoiceTransitions.void.role), {
          description:
            "Cancels a draft, or a finalized invoice of which nothing is settled and that its client does not have. It keeps its " +
            "number, what its lines refer to can be billed again, and nothing reverts it. Any other invoice takes a credit note.",
          rejects: [
            "an invoice that is PAID or VOID, or settled in part (`state`)",
            "an invoice with a finalized credit note, one that was sent by mail or stored in Google Drive, or may have been, " +
              "and one whose page was opened; an error for each reason names what happened and when (`state`)"
          ],
          events: [`invoice.${invoiceTransitions.void.event}`],
          example: { status: "VOID", balanceMinor: 0 }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("send", "/invoices/:invoiceId/send")
      .setPath(path)
      .setPayload(SendMail)
      .addSuccess(data(Schema.Array(MailDelivery)), accepted)
      .annotateContext(
        operation("Send an invoice by mail", inTenant("ADMIN"), {
          description:
            "Sends the PDF by mail through an EMAIL integration, one mail for each recipient. Without `to`, the contacts of " +
            "the client with `receivesInvoices` get it. Without texts, those of the integration in the language of the client. " +
            "`invoice.sent` or `invoice.bounced` follows for each recipient.",
          rejects: [
            "an invoice that is not issued (`state`)",
            `no recipient (\`required\`), or more than ${maxRecipients} (\`maxItems\`)`,
            "an address that is not the client's, if the integration uses the mail server of the operator (`exists`)",
            "a placeholder that does not exist (`format`)",
            "an `integrationId` that does not exist (`exists`) or is no EMAIL integration (`state`), or none with several of them (`required`)",
            "more mails than the daily quota (`quota`)"
          ],
          events: ["invoice.send_requested"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("listMails", "/invoices/:invoiceId/deliveries")
      .setPath(path)
      .setUrlParams(Schema.Struct(pageQueryFields))
      .addSuccess(data(Schema.Array(MailDelivery)))
      .annotateContext(
        operation("List the mails of an invoice", inTenant("VIEWER"), {
          description:
            "Lists to whom it was sent by mail, when, and what became of each mail, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("explain", "/invoices/:invoiceId/explain")
      .setPath(path)
      .addSuccess(data(Explanation))
      .annotateContext(
        operation("Explain the total of an invoice", inTenant("VIEWER"), {
          description:
            "Shows how the total is computed: for each line the exact product of quantity and price, what " +
            "rounding changed, and the running total."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("pdf", "/invoices/:invoiceId/pdf")
      .setPath(path)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/pdf" }))
      .annotateContext(
        operation("Download an invoice as PDF", inTenant("VIEWER"), {
          description:
            "Returns the invoice as a PDF. A finalized invoice is rendered once and stays the same file; if it meets " +
            "EN 16931, the file is a Factur-X hybrid with its XML. A draft is rendered for each request, with a mark."
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("checkEInvoice", "/invoices/:invoiceId/e-invoice-check")
      .setPath(path)
      .addSuccess(data(EInvoiceCheck))
      .annotateContext(
        operation("Check an invoice as an e-invoice", inTenant("VIEWER"), {
          description:
            "Returns every rule of EN 16931 that the invoice does not meet, with the field to change and what to fill in. " +
            "Works on drafts too, before a number is given."
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("xml", "/invoices/:invoiceId/xml")
      .setPath(path)
      .setUrlParams(EInvoiceQuery)
      .addSuccess(xmlFile)
      .annotateContext(
        operation("Download an invoice as XML", inTenant("VIEWER"), {
          description:
            "Returns an issued invoice as an e-invoice that meets EN 16931, the European standard. It stays the same " +
            "file, because the content of an issued invoice does.",
          rejects: ["an invoice that is a DRAFT (`state`)", "an invoice that does not meet the standard (`state`)"]
        })
      )
      .annotate(External, true)
  )
  .annotateEndpoints(StartsWithStatement, true) {}
