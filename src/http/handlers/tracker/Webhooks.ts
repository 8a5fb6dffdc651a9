import { Effect, Layer } from "effect"
import { identifierHeader } from "../../../domain/tracker/IssueWebhook.ts"
import { InboundStream } from "../../../layers/nats/InboundStream.ts"
import { IntakeMetrics } from "../../../layers/telemetry/IntakeMetrics.ts"
import { Receiving } from "../../../layers/tracker/Receiving.ts"
import { WebhooksApi } from "../../api/groups/tracker/Webhooks.ts"
import { handle } from "../../server/Handlers.ts"

const dependencies = Effect.all({ metrics: IntakeMetrics, receiving: Receiving, stream: InboundStream }).pipe(
  Effect.provide(Layer.merge(Receiving.Default, InboundStream.Default))
)

export const webhooks = handle(WebhooksApi, dependencies, ({ metrics, receiving, stream }) => ({
  receive: ({ bytes, headers, payload }) =>
    Effect.gen(function* () {
      const { accepted, added } = yield* receiving.receive(headers[identifierHeader], payload, bytes.toString("utf8"))
      metrics.received(added.length > 0 ? "ACCEPTED" : accepted ? "DUPLICATE" : "UNWANTED")
      yield* stream.announce(added)
      return { accepted }
    })
}))
