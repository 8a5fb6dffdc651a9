import { Effect } from "effect"
import { breaks, invalid } from "../../domain/Errors.ts"
import { mostAtOnce } from "../../domain/invoicing/Billable.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import {
  type CreateBillablesFromIssues,
  choiceFault,
  faultsOfIssues,
  lineOfIssue
} from "../../domain/tracker/IssueBilling.ts"
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
      const found = yield* issues.named(integration, keys)
      const missing = keys.flatMap((key, index) =>
        found.has(key)
          ? []
          : [{ field: `issueKeys[${index}]`, constraint: "exists", message: "names no issue that is there" } as const]
      )
      if (missing.length > 0) return yield* Effect.fail(invalid(...missing))
      return keys.flatMap((key) => found.get(key) ?? [])
    })

    const findByFilter = Effect.fnUntraced(function* (
      integration: string,
      filter: NonNullable<BillingRequest["filter"]>
    ) {
      const found = yield* issues.unbilled(integration, filter)
      if (found.length === 0)
        return yield* Effect.fail(breaks("filter", "minItems", "leaves no issue that is not billed yet"))
      if (found.length > mostAtOnce)
        return yield* Effect.fail(breaks("filter", "maxItems", `leaves more than ${mostAtOnce} issues`))
      return found
    })

    return {
      create: Effect.fnUntraced(function* (invoiceId: string, request: BillingRequest) {
        const invoice = yield* invoices.get(invoiceId)
        const error = choiceFault(request)
        if (error !== undefined) return yield* Effect.fail(error)
        const { filter = {}, integrationId, issueKeys } = request
        const site = yield* Effect.catchTag(issues.siteOf(integrationId), "NotFound", () =>
          Effect.fail(breaks("integrationId", "exists", "names nothing in this tenant"))
        )
        const selected = yield* issueKeys === undefined
          ? findByFilter(integrationId, filter)
          : findByKeys(integrationId, issueKeys)
        const lines = selected.map((issue) => lineOfIssue(issue, site, request))
        const created = billables.create({ invoiceId: InvoiceId.make(invoice.id), billables: lines })
        return yield* issueKeys === undefined
          ? created
          : Effect.catchTag(created, "ValidationError", (error) => Effect.fail(faultsOfIssues(error)))
      })
    }
  })
}) {}
