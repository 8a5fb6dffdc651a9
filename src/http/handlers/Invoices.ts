import { Effect, Layer } from "effect"
import { explain } from "../../domain/invoicing/Explanation.ts"
import { Drawing } from "../../layers/pdf/Drawing.ts"
import { InvoiceMoves } from "../../layers/sql/invoicing/InvoiceMoves.ts"
import { Invoices } from "../../layers/sql/invoicing/Invoices.ts"
import { WholeInvoices } from "../../layers/sql/invoicing/WholeInvoices.ts"
import { InvoicesApi } from "../api/groups/Invoices.ts"
import { handle } from "../edge/Handlers.ts"
import { paged } from "../edge/response/Paging.ts"
import { Reply } from "../edge/response/Reply.ts"

const needs = Effect.all({
  invoices: Invoices,
  moves: InvoiceMoves,
  whole: WholeInvoices,
  drawing: Drawing
}).pipe(Effect.provide(Layer.mergeAll(Invoices.Default, InvoiceMoves.Default, WholeInvoices.Default, Drawing.Default)))

const pdfHeaders = (name: string) => ({
  "content-type": "application/pdf",
  "content-disposition": `inline; filename="${name.replace(/[^\w.-]/g, "_")}.pdf"`
})

export const invoices = handle(InvoicesApi, needs, ({ drawing, invoices, moves, whole }) => ({
  list: ({ query }) => paged(query, (window) => invoices.list(window, query)),
  create: ({ payload }) => invoices.create(payload),
  get: ({ path }) => invoices.get(path.invoiceId),
  patch: ({ path, payload }) => invoices.patch(path.invoiceId, payload),
  remove: ({ path }) => moves.remove(path.invoiceId),
  finalize: ({ path }) => moves.finalize(path.invoiceId),
  pay: ({ path }) => moves.pay(path.invoiceId),
  void: ({ path }) => moves.void(path.invoiceId),
  explain: ({ path }) => Effect.map(whole.get(path.invoiceId), explain),
  pdf: ({ path }) =>
    Effect.gen(function* () {
      const invoice = yield* whole.get(path.invoiceId)
      const document = { ...invoice, images: yield* whole.images(invoice.invoice) }
      const name = document.invoice.invoiceNumber ?? document.invoice.id
      return new Reply(yield* drawing.invoice(document), { headers: pdfHeaders(name) })
    })
}))
