import { Effect } from "effect"
import { fieldError } from "../../domain/Errors.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import {
  type CreateBillablesFromIssues,
  issueToLine,
  requireAllFound,
  requireBillableCount,
  requireSelection,
  toIssueErrors
} from "../../domain/trackers/IssueBilling.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Billables } from "../invoicing/Billables.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { TrackedIssues } from "./TrackedIssues.ts"

type BillingRequest = CreateBillablesFromIssues

/** Creates billables from tracked issues. */
export class IssueBilling extends Effect.Service<IssueBilling>()("layers/IssueBilling", {
  dependencies: [Billables.Default, Invoices.Default, TrackedIssues.Default],
  effect: Effect.gen(function* () {
    const billables = yield* Billables
    const invoices = yield* Invoices
    const issues = yield* TrackedIssues

    const findByKeys = Effect.fnUntraced(function* (integration: string, keys: ReadonlyArray<string>) {
      const found = yield* issues.findByKeys(integration, keys)
      return yield* requireAllFound(keys, found)
    })

    const findByFilter = Effect.fnUntraced(function* (
      integration: string,
      filter: NonNullable<BillingRequest["filter"]>
    ) {
      return yield* requireBillableCount(yield* issues.findUnbilled(integration, filter))
    })

    return {
      createBillables: Effect.fnUntraced(function* (invoiceId: string, request: BillingRequest) {
        const invoice = yield* invoices.get(invoiceId)
        yield* requireSelection(request)
        const { filter = {}, integrationId, issueKeys } = request
        const site = yield* Effect.catchTag(issues.getSiteId(integrationId), "NotFound", () =>
          Effect.fail(fieldError("integrationId", "exists", "does not exist in this tenant"))
        )
        const selected = yield* issueKeys === undefined
          ? findByFilter(integrationId, filter)
          : findByKeys(integrationId, issueKeys)
        const lines = selected.map((issue) => issueToLine(issue, site, request))
        const created = billables.create({ invoiceId: InvoiceId.make(invoice.id), billables: lines })
        return yield* Effect.catchTag(created, "ValidationError", (error) =>
          Effect.fail(toIssueErrors(error, issueKeys !== undefined))
        )
      })
    }
  }).pipe(withSpans("IssueBilling"))
}) {}
