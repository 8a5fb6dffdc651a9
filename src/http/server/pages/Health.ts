import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Broker } from "../../../layers/nats/Broker.ts"
import { makeSqlClient } from "../../../layers/postgres/connection/Client.ts"
import { isReadOnly } from "../../../layers/postgres/connection/Outage.ts"
import { isMigrated } from "../../../layers/postgres/Migrations.ts"
import type { PlainRoute } from "../Listener.ts"
import { jsonAnswer } from "../response/Answer.ts"

const fresh = { "cache-control": "no-store" }

/**
 * Whether the process lives, and whether it can do its work; the broker's state is shown but decides nothing. The probe has
 * a connection of its own, so that it never queues behind requests, and many probes at once ask once.
 */
export const makeHealth = Effect.gen(function* () {
  let isStopping = false
  const sql = yield* makeSqlClient(1)
  const broker = yield* Broker

  // A server that only reads refuses even this, and then the connection is replaced by one that may lead to another.
  const database = sql`delete from migrations where false`.pipe(
    Effect.zipRight(isMigrated),
    Effect.provideService(SqlClient.SqlClient, sql),
    // The statement itself cannot be interrupted, so it is left behind.
    Effect.disconnect,
    Effect.timeout("2 seconds"),
    Effect.match({
      onFailure: (error) => (isReadOnly(error) ? "read-only" : "away"),
      onSuccess: (migrated) => (migrated ? "ready" : "not migrated")
    })
  )
  const readiness = Effect.zipWith(database, broker.state, (database, broker) => {
    const ready = database === "ready"
    return jsonAnswer(ready ? 200 : 503, JSON.stringify({ ready, database, broker }), fresh)
  })

  const cachedReadiness = yield* Effect.cachedWithTTL(readiness, "1 second")

  const stopping = jsonAnswer(503, JSON.stringify({ ready: false, stopping: true }), fresh)
  const routes = [
    { path: "/healthz", answer: Effect.succeed(jsonAnswer(200, JSON.stringify({ alive: true }), fresh)) },
    { path: "/readyz", answer: Effect.suspend(() => (isStopping ? Effect.succeed(stopping) : cachedReadiness)) }
  ] satisfies ReadonlyArray<PlainRoute>

  return {
    routes,
    /** From now on the probe says that no more requests should come. */
    announceStop: Effect.sync(() => {
      isStopping = true
    })
  }
})
