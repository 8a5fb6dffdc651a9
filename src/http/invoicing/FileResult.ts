import { Effect, Stream } from "effect"
import { etagOfDigest } from "../../domain/Etag.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { InvoiceFile } from "../../layers/invoicing/document/InvoiceFiles.ts"
import { xmlType } from "../api/EInvoiceFile.ts"
import { HandlerResult, StreamedBody } from "../server/response/HandlerResult.ts"

const fileHeaders = (type: string, name: string) => ({
  "content-type": type,
  "content-disposition": `inline; filename="${name}"`
})

const pdfHeaders = (name: string) => fileHeaders("application/pdf", name)

/** The response with the XML of a document. */
export const renderedXml = (name: string, xml: Uint8Array) =>
  new HandlerResult(xml, { headers: fileHeaders(xmlType, name) })

/** The response with a PDF that was rendered for the request. */
export const renderedPdf = (name: string, pdf: Uint8Array) => new HandlerResult(pdf, { headers: pdfHeaders(name) })

/** The response with a saved PDF. */
export const savedPdf = (
  name: string,
  file: InvoiceFile,
  read: (file: InvoiceFile) => Stream.Stream<Uint8Array, never, CurrentTenant>
) =>
  Effect.map(CurrentTenant, (tenant) => {
    const bytes = Stream.provideService(read(file), CurrentTenant, tenant)
    return new HandlerResult(new StreamedBody(file.sizeBytes, bytes), {
      headers: { ...pdfHeaders(name), etag: etagOfDigest(file.digest) }
    })
  })
