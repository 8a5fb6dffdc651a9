import { Effect, Layer } from "effect"
import { InvoicePdfs } from "../../../layers/pdf/InvoicePdfs.ts"
import { InvoiceExplanations } from "../../../layers/sql/invoicing/InvoiceExplanations.ts"
import { InvoiceMoves } from "../../../layers/sql/invoicing/InvoiceMoves.ts"
import { Invoices } from "../../../layers/sql/invoicing/Invoices.ts"
import { InvoicesApi } from "../../api/groups/invoicing/Invoices.ts"
import { handle } from "../../edge/Handlers.ts"
import { paged } from "../../edge/response/Paging.ts"
import { Reply } from "../../edge/response/Reply.ts"

const needs = Effect.all({
  invoices: Invoices,
  moves: InvoiceMoves,
  explanations: InvoiceExplanations,
  pdfs: InvoicePdfs
}).pipe(
  Effect.provide(
    Layer.mergeAll(Invoices.Default, InvoiceMoves.Default, InvoiceExplanations.Default, InvoicePdfs.Default)
  )
)

const pdfHeaders = (name: string) => ({
  "content-type": "application/pdf",
  "content-disposition": `inline; filename="${name}"`
})

export const invoices = handle(InvoicesApi, needs, ({ explanations, invoices, moves, pdfs }) => ({
  list: ({ query }) => paged(query, (window) => invoices.list(window, query)),
  create: ({ payload }) => invoices.create(payload),
  get: ({ path }) => invoices.get(path.invoiceId),
  patch: ({ path, payload }) => invoices.patch(path.invoiceId, payload),
  remove: ({ path }) => moves.remove(path.invoiceId),
  finalize: ({ path }) => moves.finalize(path.invoiceId),
  pay: ({ path }) => moves.pay(path.invoiceId),
  void: ({ path }) => moves.void(path.invoiceId),
  explain: ({ path }) => explanations.get(path.invoiceId),
  pdf: ({ path }) =>
    Effect.map(pdfs.of(path.invoiceId), ({ name, pdf }) => new Reply(pdf, { headers: pdfHeaders(name) }))
}))
