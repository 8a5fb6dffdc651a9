import { Effect, Layer } from "effect"
import { BlobStoreLive } from "../../layers/blobs/BlobStoreLive.ts"
import { Claims } from "../../layers/delivery/Claims.ts"
import { FanOut } from "../../layers/delivery/FanOut.ts"
import { AttemptResults } from "../../layers/delivery/Outcomes.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { Broker } from "../../layers/nats/Broker.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { makeWakeSignal } from "../Wakes.ts"
import { SendAttempt } from "./Attempts.ts"
import { startConsumerReconciler } from "./Consumers.ts"
import { startFanOutConsumer } from "./FanningOut.ts"
import { startRedeliveryLoop } from "./Redelivering.ts"
import { startDispatcher } from "./Sending.ts"

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
