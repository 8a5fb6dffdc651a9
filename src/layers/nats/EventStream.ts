import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"
import { asking, Broker } from "./Broker.ts"
import { declareStreams } from "./Streams.ts"

/** An event with a position in the feed, reduced to the fields that the relay publishes. */
export interface Placed {
  readonly tenant: string
  readonly id: string
  readonly client: string | null
  readonly type: string
}

/** The stream of events. It carries which events there are, not what is in them: that stays in the database. */
export class EventStream extends Effect.Service<EventStream>()("layers/EventStream", {
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const { events } = broker.names

    return {
      /** Makes sure that the streams are there. */
      declare: declareStreams.pipe(Effect.provideService(Broker, broker), Effect.provideService(Settings, settings)),

      /** Done when the broker has them all, in this order; the same event again within two minutes is not kept twice. */
      publish: (placed: ReadonlyArray<Placed>) =>
        Effect.flatMap(broker.jetstream, (stream) =>
          asking(() =>
            Promise.all(
              placed.map(({ client, id, tenant, type }) =>
                stream.publish(events.subject(tenant, client ?? undefined, type), JSON.stringify({ tenant, id }), {
                  msgID: id
                })
              )
            )
          )
        )
    }
  })
}) {}
