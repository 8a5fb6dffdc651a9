import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { Event } from "../../domain/events/Event.ts"
import {
  BeginAuthorization,
  BegunAuthorization,
  CallbackQuery,
  ConfirmAuthorization
} from "../../domain/integrations/Authorization.ts"
import { CreateSubscription } from "../../domain/integrations/CreateSubscription.ts"
import {
  CreateIntegration,
  Integration,
  IntegrationId,
  IntegrationWithSecret,
  PatchIntegration
} from "../../domain/integrations/Integration.ts"
import { integrationTransitions } from "../../domain/integrations/IntegrationStatus.ts"
import { RotateSecret } from "../../domain/integrations/SecretRotation.ts"
import { Subscription, SubscriptionId } from "../../domain/integrations/Subscription.ts"
import { field } from "../../domain/Schemas.ts"
import { External, inTenant, optionalAuth, UnsafeGet } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { PageQuery } from "../api/Paging.ts"

const path = Schema.Struct({ integrationId: IntegrationId })

const CallbackPage = field(
  HttpApiSchema.Text({ contentType: "text/html" }),
  "The last page of the popup.",
  "<!doctype html><title>Authorization</title><p>Thank you. You can close this window.</p>"
)
const subscriptionPath = Schema.Struct({ integrationId: IntegrationId, subscriptionId: SubscriptionId })

export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .annotateContext(
    tag(
      "Integrations",
      "Integrations and events",
      "Connections to other systems. WEBHOOK and NATS integrations get events, GOOGLE_DRIVE integrations get " +
        "finalized invoices as files, and JIRA integrations track issues to bill. Subscriptions select the " +
        "events."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/integrations")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Integration)))
      .annotateContext(
        operation("List integrations", inTenant("VIEWER"), {
          description: "Lists the integrations of the tenant, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/integrations")
      .setPayload(CreateIntegration)
      .addSuccess(data(IntegrationWithSecret), created)
      .annotateContext(
        operation("Create an integration", inTenant("ADMIN"), {
          description:
            "Creates an integration. The response has the secret of a WEBHOOK integration, or the webhook " +
            "URL of a JIRA integration, and no other response shows them. JIRA and GOOGLE_DRIVE integrations " +
            "then need an authorization.",
          rejects: [
            "missing settings, or settings that the provider does not support (`required`, `unknown`)",
            "a `url` that is not public HTTPS (`format`)",
            "a provider that the service is not configured for (`state`)",
            "one integration more than a tenant can have (`quota`)"
          ],
          events: ["integration.created"],
          example: { subscriptions: [] }
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(
        operation("Get an integration", inTenant("VIEWER"), {
          description: "Returns one integration, with its status and its subscriptions."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/integrations/:integrationId")
      .setPath(path)
      .setPayload(PatchIntegration)
      .addSuccess(data(Integration))
      .annotateContext(
        operation("Update an integration", inTenant("ADMIN"), {
          description: "Changes the name or the settings. `config` replaces all settings.",
          rejects: [
            "missing settings, or settings that the provider does not support (`required`, `unknown`)",
            "a `url` that is not public HTTPS (`format`)",
            "another Jira site once the integration is authorized (`state`)"
          ],
          events: ["integration.updated"]
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.del("remove", "/integrations/:integrationId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete an integration", inTenant("ADMIN"), {
          description:
            "Deletes an integration with its subscriptions and deliveries, and revokes its authorization at " +
            "the provider.",
          events: ["integration.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("pause", "/integrations/:integrationId/pause")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(
        operation("Pause an integration", inTenant("ADMIN"), {
          description:
            "Stops deliveries. Events are kept, and sent after a resume. A JIRA integration keeps its " +
            "webhooks in the same way.",
          rejects: ["an integration that is not ACTIVE (`state`)"],
          events: [`integration.${integrationTransitions.pause.event}`],
          example: { status: "PAUSED" }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("resume", "/integrations/:integrationId/resume")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(
        operation("Resume an integration", inTenant("ADMIN"), {
          description: "Starts a paused or failed integration again, and sends the events that were kept, in order.",
          rejects: [
            "an integration that is neither PAUSED nor in ERROR (`state`)",
            "an integration that lost its authorization: authorize it again (`state`)"
          ],
          events: [`integration.${integrationTransitions.resume.event}`]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("ping", "/integrations/:integrationId/ping")
      .setPath(path)
      .addSuccess(data(Event))
      .annotateContext(
        operation("Ping an integration", inTenant("ADMIN"), {
          exampleEvent: "integration.ping",
          description:
            "Records an `integration.ping` event, and delivers it to this integration alone, without a " +
            "subscription. Use it to test a receiver.",
          rejects: ["an integration that is neither WEBHOOK nor NATS (`state`)"],
          events: ["integration.ping"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("rotateSecret", "/integrations/:integrationId/rotate-secret")
      .setPath(path)
      .setPayload(RotateSecret)
      .addSuccess(data(IntegrationWithSecret))
      .annotateContext(
        operation("Rotate the secret of an integration", inTenant("ADMIN"), {
          description:
            "Replaces the secret that signs deliveries, or the webhook URL of a JIRA integration. The " +
            "response shows the new one, and no other response does. The old one stays valid beside it for " +
            "`overlapHours`.",
          rejects: [
            "an integration without a secret (`state`)",
            "more secrets at a time than an integration can have (`quota`)"
          ],
          events: ["integration.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("authorize", "/integrations/:integrationId/authorize")
      .setPath(path)
      .setPayload(BeginAuthorization)
      .addSuccess(data(BegunAuthorization))
      .annotateContext(
        operation("Start an OAuth authorization", inTenant("ADMIN"), {
          description:
            "Returns the page of the provider where a user authorizes the integration. Open it in a popup. " +
            "The popup ends at the callback, which posts a code to your page: confirm the authorization with " +
            "it.",
          rejects: [
            "an integration that needs no authorization, or is PAUSED (`state`)",
            "an origin that is not trusted (`enum`)",
            "more unfinished authorizations than an integration can have (`quota`)"
          ]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("callback", "/integrations/oauth/callback")
      .setUrlParams(CallbackQuery)
      .addSuccess(CallbackPage)
      .annotateContext(
        operation("Complete an OAuth authorization", optionalAuth, {
          description:
            "The provider redirects the popup here. The response is a page that posts the outcome to the " +
            "window that opened it, and closes. Without a token, the authorization waits ten minutes for its " +
            "confirmation. With the token of the person who started it, it is complete.",
          rejects: [
            "a `state` that is unknown, expired or used (401 without a token)",
            "the token of another person than the one who started it (403)"
          ],
          events: [`integration.${integrationTransitions.authorize.event}`]
        })
      )
      .annotate(UnsafeGet, true)
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.post("confirm", "/integrations/:integrationId/confirm")
      .setPath(path)
      .setPayload(ConfirmAuthorization)
      .addSuccess(data(Integration))
      .annotateContext(
        operation("Confirm an OAuth authorization", inTenant("ADMIN"), {
          description:
            "Completes an authorization with the code that the popup posted to your page. Only the person " +
            "who started it can confirm it.",
          rejects: [
            "a code that is unknown, expired or used (`exists`)",
            "an authorization that another person started (403)",
            "a Jira site other than that of the integration (`state`)"
          ],
          events: [`integration.${integrationTransitions.authorize.event}`]
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("listSubscriptions", "/integrations/:integrationId/subscriptions")
      .setPath(path)
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Subscription)))
      .annotateContext(
        operation("List subscriptions", inTenant("VIEWER"), {
          description: "Lists the subscriptions of an integration, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("subscribe", "/integrations/:integrationId/subscriptions")
      .setPath(path)
      .setPayload(CreateSubscription)
      .addSuccess(data(Subscription), created)
      .annotateContext(
        operation("Create a subscription", inTenant("ADMIN"), {
          description:
            "Subscribes an integration to an event type, or to all types of a resource, in the whole tenant " +
            "or for one client. It gets the events that happen from then on.",
          rejects: [
            "a subscription that exists already (`unique`)",
            "an event type that the provider does not support (`enum`)",
            "a client that does not exist (`exists`)",
            "one subscription more than an integration can have (`quota`)"
          ],
          events: ["integration.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("getSubscription", "/integrations/:integrationId/subscriptions/:subscriptionId")
      .setPath(subscriptionPath)
      .addSuccess(data(Subscription))
      .annotateContext(
        operation("Get a subscription", inTenant("VIEWER"), {
          description: "Returns one subscription of an integration."
        })
      )
  )
  .add(
    HttpApiEndpoint.del("unsubscribe", "/integrations/:integrationId/subscriptions/:subscriptionId")
      .setPath(subscriptionPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a subscription", inTenant("ADMIN"), {
          description: "Deletes a subscription. Deliveries that are queued already are still sent.",
          events: ["integration.updated"]
        })
      )
  ) {}
