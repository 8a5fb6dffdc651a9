import { Effect } from "effect"
import { defaultSyntax } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { pdfNameOf, xmlNameOf } from "../../domain/invoicing/document/FileName.ts"
import { variantOf } from "../../domain/invoicing/document/InvoiceFile.ts"
import { callerKey, Principal } from "../../domain/tenancy/RequestContext.ts"
import { InvoiceEInvoices } from "../../layers/invoicing/document/InvoiceEInvoices.ts"
import { InvoicePdfs } from "../../layers/invoicing/document/InvoicePdfs.ts"
import { InvoiceDrafts } from "../../layers/invoicing/InvoiceDrafts.ts"
import { InvoiceExplanations } from "../../layers/invoicing/InvoiceExplanations.ts"
import { InvoiceLifecycle } from "../../layers/invoicing/InvoiceLifecycle.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { InvoiceMails } from "../../layers/mails/InvoiceMails.ts"
import { InvoiceSettlement } from "../../layers/payments/InvoiceSettlement.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { renderedPdf, renderedXml, savedPdf } from "./FileResult.ts"
import { InvoicesApi } from "./InvoicesApi.ts"

const dependencies = Effect.all({
  invoices: Invoices,
  drafts: InvoiceDrafts,
  lifecycle: InvoiceLifecycle,
  explanations: InvoiceExplanations,
  pdfs: InvoicePdfs,
  eInvoices: InvoiceEInvoices,
  settlement: InvoiceSettlement,
  mails: InvoiceMails
})

export const invoices = handleGroup(
  InvoicesApi,
  dependencies,
  ({ drafts, eInvoices, explanations, invoices, lifecycle, mails, pdfs, settlement }) => ({
    list: ({ query }) => listPage(query, (window) => invoices.list(window, query)),
    create: ({ payload }) => invoices.create(payload),
    get: ({ path }) => invoices.get(path.invoiceId),
    patch: ({ path, payload }) => drafts.patch(path.invoiceId, payload),
    remove: ({ path }) => lifecycle.remove(path.invoiceId),
    finalize: ({ path, query }) => lifecycle.finalize(path.invoiceId, query),
    pay: ({ path }) => settlement.pay(path.invoiceId),
    writeOff: ({ path, payload }) => settlement.writeOff(path.invoiceId, payload),
    reverseWriteOff: ({ path }) => settlement.reverseWriteOff(path.invoiceId),
    void: ({ path, query }) => lifecycle.void(path.invoiceId, query),
    send: ({ path, payload }) => mails.sendInvoice(path.invoiceId, payload),
    listMails: ({ path, query }) => listPage(query, (window) => mails.pageOfInvoice(path.invoiceId, window)),
    explain: ({ path }) => explanations.get(path.invoiceId),
    pdf: ({ path }) =>
      Effect.gen(function* () {
        const invoice = yield* invoices.get(path.invoiceId)
        const name = pdfNameOf(invoice)
        const variant = variantOf(invoice)
        const keys = [callerKey(yield* Principal)]
        return variant === undefined
          ? renderedPdf(name, yield* pdfs.renderPreview(invoice, keys))
          : yield* savedPdf(name, yield* pdfs.getIssued(invoice, variant, keys), pdfs.read)
      }),
    checkEInvoice: ({ path }) =>
      Effect.flatMap(Principal, (principal) => eInvoices.check(path.invoiceId, [callerKey(principal)])),
    xml: ({ path, query: { syntax = defaultSyntax } }) =>
      Effect.gen(function* () {
        const keys = [callerKey(yield* Principal)]
        const { invoice, xml } = yield* eInvoices.xml(path.invoiceId, syntax, keys)
        return renderedXml(xmlNameOf(invoice), xml)
      })
  })
)
