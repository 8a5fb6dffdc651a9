import { Effect } from "effect"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { pdfNameOf } from "../../domain/invoicing/PdfName.ts"
import { WholeInvoices } from "../sql/invoicing/WholeInvoices.ts"
import { Drawing } from "./Drawing.ts"

/** The files of invoices. */
export class InvoicePdfs extends Effect.Service<InvoicePdfs>()("layers/InvoicePdfs", {
  dependencies: [WholeInvoices.Default, Drawing.Default],
  effect: Effect.gen(function* () {
    const whole = yield* WholeInvoices
    const drawing = yield* Drawing

    return {
      /** An invoice drawn as it is, or as it was once: what is not in `as` never changes after it was issued. */
      of: (id: string, as?: Invoice) =>
        Effect.gen(function* () {
          const read = yield* whole.get(id)
          const invoice = as ?? read.invoice
          const pdf = yield* drawing.invoice({ ...read, invoice, images: yield* whole.images(invoice) })
          return { name: pdfNameOf(invoice), pdf }
        })
    }
  })
}) {}
