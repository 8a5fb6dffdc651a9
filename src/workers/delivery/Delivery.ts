import { Effect, Layer } from "effect"
import { BlobStoreLive } from "../../layers/blobs/BlobStoreLive.ts"
import { Claims } from "../../layers/delivery/Claims.ts"
import { FanOut } from "../../layers/delivery/FanOut.ts"
import { Outcomes } from "../../layers/delivery/Outcomes.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { Broker } from "../../layers/nats/Broker.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { makeBell } from "../Wakes.ts"
import { Attempts } from "./Attempts.ts"
import { keepConsumers } from "./Consumers.ts"
import { fanOut } from "./FanningOut.ts"
import { redeliver } from "./Redelivering.ts"
import { send } from "./Sending.ts"

/** Fans events of the stream out into deliveries, and sends these to the receivers. */
export const DeliveryLive = Layer.scopedDiscard(
  Effect.flatMap(makeBell, (wakeSignal) =>
    Effect.all([send(wakeSignal), fanOut(wakeSignal), redeliver(wakeSignal), keepConsumers], { discard: true })
  )
).pipe(
  Layer.provide([
    Attempts.Default,
    Claims.Default,
    Outcomes.Default,
    FanOut.Default,
    Integrations.Default,
    NatsSender.Default,
    DeliveryMetrics.Default
  ]),
  Layer.provide([Broker.Default, BlobStoreLive])
)
