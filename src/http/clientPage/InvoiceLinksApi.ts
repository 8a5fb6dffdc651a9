import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { InvoiceLink } from "../../domain/clientPage/InvoiceLink.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import { inTenant, NoEvents, UnsafeGet } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"

const path = Schema.Struct({ invoiceId: InvoiceId })

const notIssued = "an invoice that was never finalized (`state`)"
const noPublicUrl = "a server without a public address: the operator must set `PUBLIC_URL` (`state`)"

export class InvoiceLinksApi extends HttpApiGroup.make("invoiceLinks")
  .annotateContext(
    tag(
      "Invoice links",
      "Invoices",
      "Links to the pages of invoices for clients: what is open, how to pay, and the PDF. Mails contain them."
    )
  )
  .add(
    HttpApiEndpoint.get("get", "/invoices/:invoiceId/link")
      .setPath(path)
      .addSuccess(data(InvoiceLink))
      .annotateContext(
        operation("Get the link to the page of an invoice", inTenant("MEMBER"), {
          description:
            "Returns the link that opens the page of an issued invoice without logging in, and when the page was opened " +
            "first. The first request creates the link, unless a mail did. A revoked link has no `url`.",
          rejects: [notIssued, noPublicUrl]
        })
      )
      .annotate(UnsafeGet, true)
      .annotate(NoEvents, true)
  )
  .add(
    HttpApiEndpoint.post("rotate", "/invoices/:invoiceId/link/rotate")
      .setPath(path)
      .addSuccess(data(InvoiceLink))
      .annotateContext(
        operation("Replace the link to the page of an invoice", inTenant("ADMIN"), {
          description:
            "Returns a new link. The link before opens nothing from now on, also in mails that were sent. A revoked link " +
            "is replaced too, and mails contain the new one.",
          rejects: [notIssued, noPublicUrl],
          events: ["invoice.link_rotated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("revoke", "/invoices/:invoiceId/link")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Revoke the link to the page of an invoice", inTenant("ADMIN"), {
          description:
            "The link opens nothing from now on, and later mails contain none, until the link is replaced with " +
            "`POST /invoices/{invoiceId}/link/rotate`.",
          rejects: [notIssued],
          events: ["invoice.link_revoked"]
        })
      )
  ) {}
