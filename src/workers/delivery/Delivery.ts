import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { AttemptResults } from "../../layers/delivery/AttemptResults.ts"
import { Claims } from "../../layers/delivery/Claims.ts"
import { DeliveryMetrics } from "../../layers/delivery/DeliveryMetrics.ts"
import { FanOut } from "../../layers/delivery/FanOut.ts"
import { retryNatsDeliveries } from "../../layers/delivery/NatsRetries.ts"
import { BlobStoreLive } from "../../layers/infra/blobs/BlobStoreLive.ts"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import type { IntegrationConsumer } from "../../layers/infra/nats/IntegrationConsumers.ts"
import { NatsSender } from "../../layers/infra/nats/NatsSender.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { runForever } from "../RunForever.ts"
import { makeWakeSignal } from "../WakeSignal.ts"
import { startDispatcher } from "./Dispatcher.ts"
import { startFanOutConsumer } from "./FanOutConsumer.ts"
import { startRedeliveryLoop } from "./RedeliveryLoop.ts"
import { SendAttempt } from "./SendAttempt.ts"

const interval = "5 seconds"

/**
 * Reconciles the JetStream consumers with the NATS integrations, so that a new integration has one before its first
 * event. After each connect, and when the streams answer again, it also retries the deliveries that failed meanwhile.
 */
export const startConsumerReconciler = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const broker = yield* Broker
  const nats = yield* NatsSender
  let retriedEpoch = 0
  const forgetRetries = Effect.sync(() => {
    retriedEpoch = 0
  })
  const wanted = sql<IntegrationConsumer>`
    select tenant_id as tenant, integrations.id from integrations
    join tenants on tenants.id = tenant_id and tenants.deleted_at is null
    where provider = 'NATS'`
  const round = Effect.gen(function* () {
    const epoch = yield* broker.connectionEpoch
    yield* Effect.tapError(nats.reconcile(wanted), () => forgetRetries)
    if (epoch !== retriedEpoch) yield* retryNatsDeliveries(sql)
    retriedEpoch = epoch
    yield* Effect.sleep(interval)
  })
  yield* Effect.forkScoped(runForever("Consumer reconciliation", round))
})

/** Fans events of the stream out into deliveries, and sends these to the receivers. */
export const DeliveryLive = Layer.scopedDiscard(
  Effect.flatMap(makeWakeSignal, (wakeSignal) =>
    Effect.all(
      [
        startDispatcher(wakeSignal),
        startFanOutConsumer(wakeSignal),
        startRedeliveryLoop(wakeSignal),
        startConsumerReconciler
      ],
      { discard: true }
    )
  )
).pipe(
  Layer.provide([
    SendAttempt.Default,
    Claims.Default,
    AttemptResults.Default,
    FanOut.Default,
    Integrations.Default,
    NatsSender.Default,
    DeliveryMetrics.Default
  ]),
  Layer.provide([Broker.Default, BlobStoreLive])
)
