import { receiverTimeoutMs } from "../../../domain/delivery/Delivery.ts"
import { eventSchemaName } from "../../../domain/events/Event.ts"
import { describeEvent } from "../../../domain/events/EventActions.ts"
import { type EventType, eventTypes } from "../../../domain/events/EventCatalogue.ts"
import { exampleId } from "../../../domain/Ids.ts"
import { integrationTransitions } from "../../../domain/integrations/IntegrationStatus.ts"
import { invoiceTransitions } from "../../../domain/invoicing/InvoiceStatus.ts"
import type { ExampleOf } from "./Examples.ts"

/** The tag of the event feed, which lists the same events. */
export const eventsTag = "Events"

const receiverHeader = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", examples: [example] }
})

/** Headers of Standard Webhooks, which every delivery has. */
const deliveryHeaders = [
  receiverHeader("webhook-id", "Identifier of the event, the same for each attempt.", exampleId("evt")),
  receiverHeader("webhook-timestamp", "When the attempt was sent, in seconds since 1970.", "1794648600"),
  receiverHeader(
    "webhook-signature",
    "Signatures of the body by each valid secret, separated by spaces.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
  )
]

/** The status of the resource in an event, for those that change it. */
const statusAfter: Readonly<Record<string, string>> = Object.fromEntries([
  ...Object.values(invoiceTransitions).map(({ event, to }) => [`invoice.${event}`, to]),
  ...Object.values(integrationTransitions).map(({ event, to }) => [`integration.${event}`, to]),
  ["asset.failed", "FAILED"]
])

const schemaOf = (type: EventType) => ({ $ref: `#/components/schemas/${eventSchemaName(type)}` })

export const eventExample = (type: EventType, exampleOf: ExampleOf) => {
  const event = Object(exampleOf(schemaOf(type)))
  const status = statusAfter[type]
  return status === undefined ? event : { ...event, data: { ...event.data, status } }
}

const description =
  "Sent to each WEBHOOK integration with a matching subscription. `data` is the resource as the API showed it at that " +
  `time. A receiver has ${receiverTimeoutMs / 1000} seconds to respond with a 2XX. Until it does, the delivery is ` +
  "retried. The same event can arrive twice, so remember its `id`."

/** The `webhooks` of the OpenAPI document: the request that an integration receives, for each event type. */
export const makeOpenApiWebhooks = (exampleOf: ExampleOf) =>
  Object.fromEntries(
    eventTypes.map(({ type }) => [
      type,
      {
        post: {
          operationId: `on.${type}`,
          summary: describeEvent(type).replace(/\.$/, ""),
          description,
          tags: [eventsTag],
          security: [],
          parameters: deliveryHeaders,
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(type), example: eventExample(type, exampleOf) } }
          },
          responses: {
            "2XX": { description: "The receiver accepts the event." },
            "4XX": { description: "The receiver rejects the event. The service sends it again later." }
          }
        }
      }
    ])
  )
