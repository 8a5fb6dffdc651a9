import { Effect, Schema } from "effect"
import { type EInvoiceSyntax, requireReady, toEInvoiceCheck } from "../../../domain/eInvoice/EInvoiceCheck.ts"
import type { EInvoiceSource } from "../../../domain/eInvoice/EInvoiceSource.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { PdfRenderer } from "../../infra/pdf/PdfRenderer.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

/** A document of which an e-invoice is made. */
export interface EInvoiceRequest<E, R> {
  /** Keys of the fair concurrency limit besides the tenant. */
  readonly keys: ReadonlyArray<string>
  readonly lineCount: number
  readonly load: Effect.Effect<EInvoiceSource, E, R>
}

const UnmetRules = Schema.parseJson(
  Schema.Array(Schema.Struct({ rule: Schema.String, field: Schema.String, message: Schema.String }))
)
const decodeRules = Schema.decode(UnmetRules)

/** Writes the XML of documents, and checks them against the standard, on a render thread. */
export class EInvoiceWriter extends Effect.Service<EInvoiceWriter>()("layers/EInvoiceWriter", {
  dependencies: [PdfRenderer.Default],
  effect: Effect.gen(function* () {
    const renderer = yield* PdfRenderer

    const encode = <E, R>({ keys, lineCount, load }: EInvoiceRequest<E, R>, syntax?: EInvoiceSyntax) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        renderer.renderEInvoice({
          keys: [tenant, ...keys],
          lineCount,
          load: Effect.map(load, (eInvoice) => ({ eInvoice, syntax }))
        })
      )

    const check = <E, R>(request: EInvoiceRequest<E, R>) =>
      encode(request).pipe(
        Effect.flatMap((bytes) => Effect.orDie(decodeRules(new TextDecoder().decode(bytes)))),
        Effect.map(toEInvoiceCheck)
      )

    return {
      check,

      /** The XML of an issued document. Fails with every rule of the standard that it does not meet. */
      xml: Effect.fnUntraced(function* <E, R>(request: EInvoiceRequest<E, R>, syntax: EInvoiceSyntax) {
        yield* Effect.flatMap(check(request), requireReady)
        return yield* encode(request, syntax)
      })
    }
  }).pipe(withSpans("EInvoiceWriter"))
}) {}
