import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"
import { Broker } from "./Broker.ts"
import { declareStreams } from "./Streams.ts"

/** The identity of an inbound webhook. */
export interface InboundKey {
  readonly tenant: string
  readonly integration: string
  readonly id: string
}

/** The JetStream stream of inbound webhooks. Messages carry webhook ids only; the payload stays in PostgreSQL. */
export class InboundStream extends Effect.Service<InboundStream>()("layers/InboundStream", {
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const { inbound } = broker.names

    return {
      declareStreams: declareStreams.pipe(
        Effect.provideService(Broker, broker),
        Effect.provideService(Settings, settings)
      ),

      /** Announces new webhooks to intake. Intake finds lost ones in the database. */
      announce: (added: ReadonlyArray<InboundKey>) =>
        Effect.forEach(
          added,
          ({ id, integration, tenant }) =>
            broker.publishUnconfirmed(inbound.subject(tenant, integration), JSON.stringify({ tenant, id })),
          { discard: true }
        )
    }
  })
}) {}
