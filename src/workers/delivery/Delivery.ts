import { Effect, Layer } from "effect"
import { BlobStoreLive } from "../../layers/blobs/BlobStoreLive.ts"
import { AttemptResults } from "../../layers/delivery/AttemptResults.ts"
import { Claims } from "../../layers/delivery/Claims.ts"
import { FanOut } from "../../layers/delivery/FanOut.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { Broker } from "../../layers/nats/Broker.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { makeWakeSignal } from "../WakeSignal.ts"
import { startConsumerReconciler } from "./ConsumerReconciler.ts"
import { startDispatcher } from "./Dispatcher.ts"
import { startFanOutConsumer } from "./FanOutConsumer.ts"
import { startRedeliveryLoop } from "./RedeliveryLoop.ts"
import { SendAttempt } from "./SendAttempt.ts"

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
