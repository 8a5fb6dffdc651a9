import { Effect } from "effect"
import { openDedicatedConnection } from "./connection/DedicatedConnection.ts"

/**
 * Removes dead rows from a table's indexes. Until then look-ups may scan all of them, and so do foreign key checks when
 * referenced rows are deleted.
 */
export const vacuum = (table: string) =>
  Effect.scoped(
    Effect.flatMap(openDedicatedConnection({ statement_timeout: 0 }), (run) =>
      // `truncate false`: returning space to the system would lock the table.
      run(`vacuum (skip_locked, truncate false) "${table}"`)
    )
  ).pipe(Effect.ignoreLogged)
