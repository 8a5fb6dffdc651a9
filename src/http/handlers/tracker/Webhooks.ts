import { Effect, Layer } from "effect"
import { identifierHeader } from "../../../domain/tracker/IssueWebhook.ts"
import { InboundStream } from "../../../layers/nats/InboundStream.ts"
import { IntakeMetrics } from "../../../layers/telemetry/IntakeMetrics.ts"
import { InboundStore } from "../../../layers/tracker/InboundStore.ts"
import { WebhooksApi } from "../../api/groups/tracker/Webhooks.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"

const dependencies = Effect.all({ metrics: IntakeMetrics, receiving: InboundStore, stream: InboundStream }).pipe(
  provideShared(Layer.merge(InboundStore.Default, InboundStream.Default))
)

export const webhooks = handleGroup(WebhooksApi, dependencies, ({ metrics, receiving, stream }) => ({
  receive: ({ bytes, headers, payload }) =>
    Effect.gen(function* () {
      const { accepted, added } = yield* receiving.save(headers[identifierHeader], payload, bytes.toString("utf8"))
      metrics.countReceived(added.length > 0 ? "ACCEPTED" : accepted ? "DUPLICATE" : "UNWANTED")
      yield* stream.announce(added)
      return { accepted }
    })
}))
