import { eventSchemaName } from "../../domain/events/Event.ts"
import { eventTypes } from "../../domain/events/EventCatalogue.ts"

const summaryOf = (type: string) => {
  const [resource, action] = type.split(".")
  return `Tells of ${/^[aeiou]/.test(type) ? "an" : "a"} ${resource?.replaceAll("_", " ")}: ${action}`
}

/** The `webhooks` of the OpenAPI document: the request that an integration receives, for each event type. */
export const openApiWebhooks = Object.fromEntries(
  eventTypes.map(({ type }) => [
    type,
    {
      post: {
        operationId: `on.${type}`,
        summary: summaryOf(type),
        tags: ["events"],
        security: [],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: `#/components/schemas/${eventSchemaName(type)}` } } }
        },
        responses: {
          "2XX": { description: "The receiver has it" },
          "4XX": { description: "The receiver does not take it; it is sent again later" }
        }
      }
    }
  ])
)
