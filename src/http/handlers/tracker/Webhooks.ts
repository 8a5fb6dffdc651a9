import { Effect, Layer } from "effect"
import { identifierHeader } from "../../../domain/tracker/IssueWebhook.ts"
import { InboundStream } from "../../../layers/nats/InboundStream.ts"
import { Receiving } from "../../../layers/sql/tracker/Receiving.ts"
import { WebhooksApi } from "../../api/groups/tracker/Webhooks.ts"
import { handle } from "../../edge/Handlers.ts"

const needs = Effect.all({ receiving: Receiving, stream: InboundStream }).pipe(
  Effect.provide(Layer.merge(Receiving.Default, InboundStream.Default))
)

export const webhooks = handle(WebhooksApi, needs, ({ receiving, stream }) => ({
  receive: ({ bytes, headers, payload }) =>
    Effect.gen(function* () {
      const { accepted, added } = yield* receiving.receive(headers[identifierHeader], payload, bytes.toString("utf8"))
      yield* stream.announce(added)
      return { accepted }
    })
}))
