import { Schema } from "effect"
import { Billable } from "../invoicing/Billable.ts"
import { optional } from "../Schemas.ts"
import { TrackedIssue } from "./TrackedIssue.ts"

/** A line whose issue changed after it was billed. */
export const ReferenceChanged = Schema.Struct({
  ...Billable.fields,
  before: optional(TrackedIssue),
  after: TrackedIssue
}).annotations({
  identifier: "BillableReferenceChanged",
  description: "A line of an invoice, and the issue that it bills before and after the change."
})
