import * as SqlClient from "@effect/sql/SqlClient"
import { Cause, Effect } from "effect"
import {
  makeBulkRedeliveries,
  type OpenRedelivery,
  type RedeliveryLimits
} from "../../layers/delivery/redelivery/BulkRedeliveries.ts"
import { isConnectionBroken } from "../../layers/infra/postgres/connection/TransientErrors.ts"
import { runForever } from "../RunForever.ts"
import type { WakeSignal } from "../WakeSignal.ts"

const pollMillis = 1000
const lockedMillis = 50

/** Completes large redeliveries in steps, round-robin over the tenants. It postpones and retries a failing one. */
export const startRedeliveryLoop = (wakeSignal: WakeSignal, limits?: RedeliveryLimits) =>
  Effect.gen(function* () {
    const redeliveries = makeBulkRedeliveries(yield* SqlClient.SqlClient, limits)
    let lastTenant = ""

    const advance = (open: OpenRedelivery) =>
      Effect.gen(function* () {
        const result = yield* redeliveries.advance(open)
        if (result === undefined) return yield* Effect.sleep(lockedMillis)
        if (result.redelivered > 0) wakeSignal.notify()
        if (result.isComplete)
          yield* Effect.logInfo(`Redelivered ${result.total} deliveries to integration ${open.integration}`)
      }).pipe(
        Effect.catchAllCause((cause) =>
          isConnectionBroken(Cause.squash(cause))
            ? Effect.failCause(cause)
            : Effect.zipRight(
                Effect.logWarning(`Redelivering to integration ${open.integration} failed; retrying`, cause),
                redeliveries.postpone(open)
              )
        )
      )

    const work = Effect.gen(function* () {
      const open = yield* redeliveries.nextDue(lastTenant)
      const wasFirst = lastTenant === ""
      lastTenant = open?.tenant ?? ""
      if (open !== undefined) yield* advance(open)
      else if (wasFirst) yield* Effect.sleep(pollMillis)
    })

    yield* Effect.forkScoped(runForever("Redelivery", work))
  })
