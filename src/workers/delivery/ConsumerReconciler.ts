import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { IntegrationConsumer } from "../../layers/nats/IntegrationConsumers.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { runForever } from "../RunForever.ts"

const interval = "5 seconds"

/**
 * Reconciles the JetStream consumers with the NATS integrations, so that a new integration has one before its first
 * event.
 */
export const startConsumerReconciler = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const nats = yield* NatsSender
  const wanted = sql<IntegrationConsumer>`
    select tenant_id as tenant, integrations.id from integrations
    join tenants on tenants.id = tenant_id and tenants.deleted_at is null
    where provider = 'NATS'`
  const round = Effect.zipRight(nats.reconcile(wanted), Effect.sleep(interval))
  yield* Effect.forkScoped(runForever("Consumer reconciliation", round))
})
