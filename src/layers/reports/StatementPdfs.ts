import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { PdfRenderer } from "../infra/pdf/PdfRenderer.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { InvoiceParties } from "../invoicing/document/InvoiceParties.ts"
import type { ResolvedPeriod } from "./ReportPeriods.ts"
import { Statements } from "./Statements.ts"

/** Statements as PDF. */
export class StatementPdfs extends Effect.Service<StatementPdfs>()("layers/StatementPdfs", {
  dependencies: [InvoiceParties.Default, PdfRenderer.Default, Statements.Default],
  effect: Effect.gen(function* () {
    const parties = yield* InvoiceParties
    const renderer = yield* PdfRenderer
    const statements = yield* Statements

    const load = (client: string, resolved: ResolvedPeriod) =>
      Effect.gen(function* () {
        const statement = yield* statements.get(client, resolved)
        return { statement, parties: yield* parties.loadByClient(client) }
      })

    return {
      /** The concurrency limit counts the work for the tenant and for each of `keys`. */
      render: (client: string, resolved: ResolvedPeriod, keys: ReadonlyArray<string>) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          renderer.renderStatement({ keys: [tenant, ...keys], load: load(client, resolved) })
        )
    }
  }).pipe(withSpans("StatementPdfs"))
}) {}
