import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { sumTooLarge } from "../../../domain/reports/ReportAmount.ts"
import { errorCodeOf } from "./connection/TransientErrors.ts"
import { InexactInteger } from "./connection/Values.ts"

const numericValueOutOfRange = "22003"

const isTooLarge = ({ cause }: SqlError) =>
  cause instanceof InexactInteger || errorCodeOf(cause) === numericValueOutOfRange

/** Rejects the request, with an error of `field`, if a sum of the statement is beyond the exact range. */
export const requireExactSums =
  (field: string) =>
  <A, R>(statement: Effect.Effect<A, SqlError, R>) =>
    Effect.catchAll(statement, (error) => (isTooLarge(error) ? Effect.fail(sumTooLarge(field)) : Effect.die(error)))
