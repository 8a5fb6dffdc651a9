import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { Consumer } from "../../layers/nats/Consumers.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { forEver } from "../ForEver.ts"

const every = "5 seconds"

/** Keeps a consumer for each integration over NATS, also for one that was told nothing yet. */
export const keepConsumers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const nats = yield* NatsSender
  const wanted = sql<Consumer>`
    select tenant_id as tenant, integrations.id from integrations
    join tenants on tenants.id = tenant_id and tenants.deleted_at is null
    where provider = 'NATS'`
  const round = Effect.zipRight(nats.reconcile(wanted), Effect.sleep(every))
  yield* Effect.forkScoped(forEver("Keeping consumers", round))
})
