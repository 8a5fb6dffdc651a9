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

type Wish = CreateBillablesFromIssues

/** Makes lines of invoices out of issues. */
export class IssueBilling extends Effect.Service<IssueBilling>()("layers/IssueBilling", {
  dependencies: [Billables.Default, Invoices.Default, TrackedIssues.Default],
  effect: Effect.gen(function* () {
    const billables = yield* Billables
    const invoices = yield* Invoices
    const issues = yield* TrackedIssues

    const named = Effect.fnUntraced(function* (integration: string, keys: ReadonlyArray<string>) {
      const found = yield* issues.named(integration, keys)
      const missing = keys.flatMap((key, n) =>
        found.has(key)
          ? []
          : [{ field: `issueKeys[${n}]`, constraint: "exists", message: "names no issue that is there" } as const]
      )
      if (missing.length > 0) return yield* Effect.fail(invalid(...missing))
      return keys.flatMap((key) => found.get(key) ?? [])
    })

    const filtered = Effect.fnUntraced(function* (integration: string, filter: NonNullable<Wish["filter"]>) {
      const found = yield* issues.unbilled(integration, filter)
      if (found.length === 0)
        return yield* Effect.fail(breaks("filter", "minItems", "leaves no issue that is not billed yet"))
      if (found.length > mostAtOnce)
        return yield* Effect.fail(breaks("filter", "maxItems", `leaves more than ${mostAtOnce} issues`))
      return found
    })

    return {
      create: Effect.fnUntraced(function* (invoiceId: string, wish: Wish) {
        const invoice = yield* invoices.get(invoiceId)
        const fault = choiceFault(wish)
        if (fault !== undefined) return yield* Effect.fail(fault)
        const { filter = {}, integrationId, issueKeys } = wish
        const site = yield* Effect.catchTag(issues.siteOf(integrationId), "NotFound", () =>
          Effect.fail(breaks("integrationId", "exists", "names nothing in this tenant"))
        )
        const chosen = yield* issueKeys === undefined
          ? filtered(integrationId, filter)
          : named(integrationId, issueKeys)
        const lines = chosen.map((issue) => lineOfIssue(issue, site, wish))
        const made = billables.create({ invoiceId: InvoiceId.make(invoice.id), billables: lines })
        return yield* issueKeys === undefined
          ? made
          : Effect.catchTag(made, "ValidationError", (error) => Effect.fail(faultsOfIssues(error)))
      })
    }
  })
}) {}
