import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"
import { Broker } from "./Broker.ts"
import { declareStreams } from "./Streams.ts"

/** Where a webhook that came in lies. */
export interface InboundKey {
  readonly tenant: string
  readonly integration: string
  readonly id: string
}

/** The stream of webhooks that came in. It carries which there are, not what is in them: that stays in the database. */
export class InboundStream extends Effect.Service<InboundStream>()("layers/InboundStream", {
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const { inbound } = broker.names

    return {
      /** Makes sure that the streams are there. */
      declare: declareStreams.pipe(Effect.provideService(Broker, broker), Effect.provideService(Settings, settings)),

      /** Tells whoever works them that these are there. What gets lost is found in the database. */
      announce: (added: ReadonlyArray<InboundKey>) =>
        Effect.forEach(
          added,
          ({ id, integration, tenant }) =>
            broker.toss(inbound.subject(tenant, integration), JSON.stringify({ tenant, id })),
          { discard: true }
        )
    }
  })
}) {}
