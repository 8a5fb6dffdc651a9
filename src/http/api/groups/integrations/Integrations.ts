import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Event } from "../../../../domain/events/Event.ts"
import {
  BeginAuthorization,
  BegunAuthorization,
  CallbackQuery,
  ConfirmAuthorization
} from "../../../../domain/integrations/Authorization.ts"
import { CreateSubscription } from "../../../../domain/integrations/CreateSubscription.ts"
import {
  CreateIntegration,
  Integration,
  IntegrationId,
  IntegrationWithSecret,
  PatchIntegration
} from "../../../../domain/integrations/Integration.ts"
import { RotateSecret } from "../../../../domain/integrations/SecretRotation.ts"
import { Subscription, SubscriptionId } from "../../../../domain/integrations/Subscription.ts"
import { External, inTenant, operation, optionalAuth, UnsafeGet } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { PageQuery } from "../../Paging.ts"

const path = Schema.Struct({ integrationId: IntegrationId })
const subscriptionPath = Schema.Struct({ integrationId: IntegrationId, subscriptionId: SubscriptionId })

export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .annotate(OpenApi.Description, "Links to other systems, and the events each is told of")
  .add(
    HttpApiEndpoint.get("list", "/integrations")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Integration)))
      .annotateContext(operation("List integrations", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/integrations")
      .setPayload(CreateIntegration)
      .addSuccess(data(IntegrationWithSecret), created)
      .annotateContext(operation("Create an integration; its secret is shown this once", inTenant("ADMIN")))
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(operation("Get one integration", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/integrations/:integrationId")
      .setPath(path)
      .setPayload(PatchIntegration)
      .addSuccess(data(Integration))
      .annotateContext(operation("Change an integration's name or settings", inTenant("ADMIN")))
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.del("remove", "/integrations/:integrationId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete an integration with its subscriptions and deliveries", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("pause", "/integrations/:integrationId/pause")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(operation("Hold everything back that an integration is to be sent", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("resume", "/integrations/:integrationId/resume")
      .setPath(path)
      .addSuccess(data(Integration))
      .annotateContext(operation("Send an integration what was held back, and go on", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("ping", "/integrations/:integrationId/ping")
      .setPath(path)
      .addSuccess(data(Event))
      .annotateContext(operation("Send an integration an event to try it out", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("rotateSecret", "/integrations/:integrationId/rotate-secret")
      .setPath(path)
      .setPayload(RotateSecret)
      .addSuccess(data(IntegrationWithSecret))
      .annotateContext(operation("Replace the secret that signs deliveries", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("authorize", "/integrations/:integrationId/authorize")
      .setPath(path)
      .setPayload(BeginAuthorization)
      .addSuccess(data(BegunAuthorization))
      .annotateContext(operation("Begin to authorize an integration with its provider", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.get("callback", "/integrations/oauth/callback")
      .setUrlParams(CallbackQuery)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/html" }))
      .annotateContext(operation("Finish what somebody authorized with a provider", optionalAuth))
      .annotate(UnsafeGet, true)
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.post("confirm", "/integrations/:integrationId/confirm")
      .setPath(path)
      .setPayload(ConfirmAuthorization)
      .addSuccess(data(Integration))
      .annotateContext(operation("Confirm that an authorization was one's own", inTenant("ADMIN")))
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("listSubscriptions", "/integrations/:integrationId/subscriptions")
      .setPath(path)
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Subscription)))
      .annotateContext(operation("List what an integration is told of", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("subscribe", "/integrations/:integrationId/subscriptions")
      .setPath(path)
      .setPayload(CreateSubscription)
      .addSuccess(data(Subscription), created)
      .annotateContext(operation("Let an integration be told of more", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.get("getSubscription", "/integrations/:integrationId/subscriptions/:subscriptionId")
      .setPath(subscriptionPath)
      .addSuccess(data(Subscription))
      .annotateContext(operation("Get one subscription", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.del("unsubscribe", "/integrations/:integrationId/subscriptions/:subscriptionId")
      .setPath(subscriptionPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Let an integration be told of less", inTenant("ADMIN")))
  ) {}
