import { Effect, Layer } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { InboundStream } from "../../../layers/nats/InboundStream.ts"
import { Inbound } from "../../../layers/tracker/Inbound.ts"
import { InboundApi } from "../../api/groups/tracker/Inbound.ts"
import { handle } from "../../server/Handlers.ts"
import { paged } from "../../server/response/Paging.ts"

const dependencies = Effect.all({ inbound: Inbound, stream: InboundStream }).pipe(
  Effect.provide(Layer.merge(Inbound.Default, InboundStream.Default))
)

export const inbound = handle(InboundApi, dependencies, ({ inbound, stream }) => ({
  list: ({ path, query }) => paged(query, (window) => inbound.page(path.integrationId, window, query)),
  get: ({ path }) => inbound.get(path.integrationId, path.webhookId),
  replay: ({ path }) =>
    Effect.gen(function* () {
      const webhook = yield* inbound.replay(path.integrationId, path.webhookId)
      yield* stream.announce([{ tenant: yield* CurrentTenant, integration: webhook.integration, id: webhook.id }])
      return webhook
    })
}))
