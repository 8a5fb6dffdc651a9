import { Schema } from "effect"
import { field, optional, QueryBoolean } from "../../domain/Schemas.ts"

/** The query of a transition that can be tried out. */
export const TransitionQuery = Schema.Struct({
  dryRun: optional(
    field(QueryBoolean, "With `true`, the response is that of the request, errors included, but nothing changes.")
  )
})
