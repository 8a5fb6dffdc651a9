import { Effect } from "effect"
import { identifierHeader } from "../../domain/trackers/IssueWebhook.ts"
import { InboundStream } from "../../layers/infra/nats/InboundStream.ts"
import { InboundStore } from "../../layers/trackers/InboundStore.ts"
import { IntakeMetrics } from "../../layers/trackers/IntakeMetrics.ts"
import { handleGroup } from "../server/Handlers.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

const dependencies = Effect.all({ metrics: IntakeMetrics, receiving: InboundStore, stream: InboundStream })

export const webhooks = handleGroup(WebhooksApi, dependencies, ({ metrics, receiving, stream }) => ({
  receive: ({ bytes, headers, payload }) =>
    Effect.gen(function* () {
      const { accepted, added } = yield* receiving.save(headers[identifierHeader], payload, bytes.toString("utf8"))
      metrics.countReceived(added.length > 0 ? "ACCEPTED" : accepted ? "DUPLICATE" : "UNWANTED")
      yield* stream.announce(added)
      return { accepted }
    })
}))
