import { Effect } from "effect"
import { openOwnConnection } from "./connection/OwnConnection.ts"

/**
 * Forgets the rows of a table that were deleted, at once. As long as its indexes know of them, whoever looks for what is no
 * longer there walks over all of them: so do the checks of foreign keys while the rows that were referred to go.
 */
export const vacuum = (table: string) =>
  Effect.scoped(
    Effect.flatMap(openOwnConnection({ statement_timeout: 0 }), (run) =>
      // Without giving space back, which would lock the table.
      run(`vacuum (skip_locked, truncate false) "${table}"`)
    )
  ).pipe(Effect.ignoreLogged)
