import { Effect, Stream } from "effect"
import { creditNotePdfName, pdfNameOf } from "../../domain/invoicing/document/FileName.ts"
import { defaultLanguage } from "../../domain/locale/Language.ts"
import { formatLocalDate, formatLocalMoney } from "../../domain/locale/LocaleFormat.ts"
import { defaultTimeZone } from "../../domain/locale/TimeZone.ts"
import type { MailedDocument } from "../../domain/mails/Mail.ts"
import type { MailValues } from "../../domain/mails/MailTexts.ts"
import { InvoiceLinks } from "../clientPage/InvoiceLinks.ts"
import { CreditNotePdfs } from "../creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../creditNotes/CreditNotes.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { InvoiceDetails, InvoicePdfs } from "../invoicing/document/InvoicePdfs.ts"

const collect = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(Stream.runCollect(bytes), (chunks) => new Uint8Array(Buffer.concat([...chunks])))

/** What mails contain of invoices and credit notes. */
export class MailDocuments extends Effect.Service<MailDocuments>()("layers/MailDocuments", {
  dependencies: [
    InvoiceDetails.Default,
    InvoiceLinks.Default,
    InvoicePdfs.Default,
    CreditNotes.Default,
    CreditNotePdfs.Default
  ],
  effect: Effect.gen(function* () {
    const details = yield* InvoiceDetails
    const invoicePdfs = yield* InvoicePdfs
    const links = yield* InvoiceLinks
    const notes = yield* CreditNotes
    const notePdfs = yield* CreditNotePdfs

    const loadNote = Effect.fnUntraced(function* (id: string) {
      const note = yield* notes.get(id)
      const { parties } = yield* details.getHead(note.invoice)
      return {
        ...{ parties, status: note.status, number: note.creditNoteNumber ?? id, dueAt: undefined, issued: note },
        invoice: note.invoice,
        fileName: creditNotePdfName(note),
        pdf: Effect.flatMap(notePdfs.getIssued(note), (file) => collect(notePdfs.read(file)))
      }
    })

    const loadInvoice = Effect.fnUntraced(function* (id: string) {
      const { invoice, parties } = yield* details.getHead(id)
      return {
        ...{
          parties,
          status: invoice.status,
          number: invoice.invoiceNumber ?? id,
          dueAt: invoice.dueAt,
          issued: invoice
        },
        invoice: invoice.id,
        fileName: pdfNameOf(invoice),
        pdf: Effect.flatMap(invoicePdfs.getIssued(invoice, "ISSUED"), invoicePdfs.readAll)
      }
    })

    return {
      /** Loads a document. Its parties are those as of its issue, and so is the language. */
      load: Effect.fnUntraced(function* ({ id, kind }: MailedDocument) {
        const found = yield* kind === "invoice" ? loadInvoice(id) : loadNote(id)
        const { dueAt, fileName, invoice, issued, number, parties, pdf, status } = found
        const { client, tenant } = parties
        const language = client.language ?? defaultLanguage
        const values: MailValues = {
          invoiceNumber: number,
          total: formatLocalMoney(issued.totalMinor, issued.currencyCode, language),
          dueDate: dueAt === undefined ? "" : formatLocalDate(dueAt, tenant.timeZone ?? defaultTimeZone, language),
          client: client.name,
          link: (yield* links.findUrl(invoice)) ?? ""
        }
        return { status, language, values, sender: tenant.name, fileName, pdf }
      })
    }
  }).pipe(withSpans("MailDocuments"))
}) {}
