import { Effect } from "effect"
import { openOwnConnection } from "./connection/OwnConnection.ts"

/**
 * Clears a table's indexes of rows that were deleted. Until then a look-up may walk over all of them, and so do the checks
 * of foreign keys while the rows that were referred to go.
 */
export const vacuum = (table: string) =>
  Effect.scoped(
    Effect.flatMap(openOwnConnection({ statement_timeout: 0 }), (run) =>
      // Without giving space back, which would lock the table.
      run(`vacuum (skip_locked, truncate false) "${table}"`)
    )
  ).pipe(Effect.ignoreLogged)
