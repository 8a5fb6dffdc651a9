import { Schema } from "effect"

/** An amount in minor units. The sum of many amounts has no bound of its own. */
export const ReportAmount = Schema.Number.annotations({ jsonSchema: { type: "integer" } })
