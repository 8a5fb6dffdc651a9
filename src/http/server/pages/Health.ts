import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Broker } from "../../../layers/infra/nats/Broker.ts"
import { makeSqlClient } from "../../../layers/infra/postgres/connection/PostgresClient.ts"
import { isReadOnly } from "../../../layers/infra/postgres/connection/TransientErrors.ts"
import { isMigrated } from "../../../layers/infra/postgres/Migrations.ts"
import type { PlainRoute } from "../AnonymousRequests.ts"
import { jsonResponse } from "../response/HttpResponse.ts"

const noStore = { "cache-control": "no-store" }

/**
 * Liveness and readiness. The broker's state is reported but does not affect readiness. The probe has its own
 * connection, so it never queues behind requests, and concurrent probes share one query.
 */
export const makeHealth = Effect.gen(function* () {
  let isStopping = false
  const sql = yield* makeSqlClient(1)
  const broker = yield* Broker

  // A read-only standby rejects even this statement. The client then reconnects, and may reach the primary.
  const databaseState = sql`delete from migrations where false`.pipe(
    Effect.zipRight(isMigrated),
    Effect.provideService(SqlClient.SqlClient, sql),
    // The driver cannot interrupt a statement, so the timeout must not wait for it.
    Effect.disconnect,
    Effect.timeout("2 seconds"),
    Effect.match({
      onFailure: (error) => (isReadOnly(error) ? "read-only" : "away"),
      onSuccess: (migrated) => (migrated ? "ready" : "not migrated")
    })
  )
  const readiness = Effect.zipWith(databaseState, broker.state, (database, broker) => {
    const ready = database === "ready"
    return jsonResponse(ready ? 200 : 503, JSON.stringify({ ready, database, broker }), noStore)
  })

  const cachedReadiness = yield* Effect.cachedWithTTL(readiness, "1 second")

  const stoppingResponse = jsonResponse(503, JSON.stringify({ ready: false, stopping: true }), noStore)
  const routes = [
    { path: "/healthz", respond: () => Effect.succeed(jsonResponse(200, JSON.stringify({ alive: true }), noStore)) },
    {
      path: "/readyz",
      respond: () => (isStopping ? Effect.succeed(stoppingResponse) : cachedReadiness)
    }
  ] satisfies ReadonlyArray<PlainRoute>

  return {
    routes,
    /** Makes /readyz fail from now on, so that load balancers stop sending requests. */
    failReadiness: Effect.sync(() => {
      isStopping = true
    })
  }
})
