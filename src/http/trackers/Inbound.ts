import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { InboundStream } from "../../layers/infra/nats/InboundStream.ts"
import { InboundWebhooks } from "../../layers/trackers/InboundWebhooks.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { InboundApi } from "./InboundApi.ts"

const dependencies = Effect.all({ inbound: InboundWebhooks, stream: InboundStream })

export const inbound = handleGroup(InboundApi, dependencies, ({ inbound, stream }) => ({
  list: ({ path, query }) => listPage(query, (window) => inbound.page(path.integrationId, window, query)),
  get: ({ path }) => inbound.get(path.integrationId, path.webhookId),
  replay: ({ path }) =>
    Effect.gen(function* () {
      const webhook = yield* inbound.replay(path.integrationId, path.webhookId)
      yield* stream.announce([{ tenant: yield* CurrentTenant, integration: webhook.integration, id: webhook.id }])
      return webhook
    })
}))
