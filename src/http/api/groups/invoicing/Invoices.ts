import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ContractId } from "../../../../domain/contracting/Contract.ts"
import { Explanation } from "../../../../domain/invoicing/Explanation.ts"
import { CreateInvoice, Invoice, InvoiceId, PatchInvoice } from "../../../../domain/invoicing/Invoice.ts"
import { InvoiceStatus, invoiceTransitions } from "../../../../domain/invoicing/InvoiceStatus.ts"
import { optional, queryBoolean } from "../../../../domain/Schemas.ts"
import { External, inTenant, LongRead, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ invoiceId: InvoiceId })

export class InvoicesApi extends HttpApiGroup.make("invoices")
  .annotate(OpenApi.Description, "What clients owe: drafted, finalized under a number, paid or void")
  .add(
    HttpApiEndpoint.get("list", "/invoices")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          contractId: optional(ContractId),
          status: optional(InvoiceStatus),
          overdue: optional(queryBoolean("Finalized, due, and not paid yet"))
        })
      )
      .addSuccess(data(Schema.Array(Invoice)))
      .annotateContext(operation("List invoices", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/invoices")
      .setPayload(CreateInvoice)
      .addSuccess(data(Invoice), created)
      .annotateContext(operation("Create a draft invoice", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/invoices/:invoiceId")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(operation("Get one invoice", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/invoices/:invoiceId")
      .setPath(path)
      .setPayload(PatchInvoice)
      .addSuccess(data(Invoice))
      .annotateContext(operation("Change a draft invoice", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/invoices/:invoiceId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a draft invoice with its lines", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.post("finalize", "/invoices/:invoiceId/finalize")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(
        operation("Finalize an invoice: number it and freeze it", inTenant(invoiceTransitions.finalize.role))
      )
  )
  .add(
    HttpApiEndpoint.post("pay", "/invoices/:invoiceId/pay")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(operation("Mark an invoice as paid", inTenant(invoiceTransitions.pay.role)))
  )
  .add(
    HttpApiEndpoint.post("void", "/invoices/:invoiceId/void")
      .setPath(path)
      .addSuccess(data(Invoice))
      .annotateContext(operation("Void an invoice, for good", inTenant(invoiceTransitions.void.role)))
  )
  .add(
    HttpApiEndpoint.get("explain", "/invoices/:invoiceId/explain")
      .setPath(path)
      .addSuccess(data(Explanation))
      .annotateContext(operation("Show how an invoice's total comes about", inTenant("VIEWER")))
      .annotate(LongRead, true)
  )
  .add(
    HttpApiEndpoint.get("pdf", "/invoices/:invoiceId/pdf")
      .setPath(path)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/pdf" }))
      .annotateContext(operation("Get an invoice as a PDF document", inTenant("VIEWER")))
      .annotate(External, true)
  ) {}
