import { Either, Schema } from "effect"
import { type ErrorDetail, fieldError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { body, optional, patch, text, timestamps } from "../Schemas.ts"
import { toStorableText } from "../StorableText.ts"
import { isOAuthProvider } from "./Authorization.ts"
import { IntegrationStatus } from "./IntegrationStatus.ts"
import { Provider } from "./Provider.ts"
import { Subscription } from "./Subscription.ts"

export const IntegrationId = id("int", "integration")
export type IntegrationId = typeof IntegrationId.Type

export const maxSiteIdLength = 100

/** The settings of all providers. `configKeys` lists those of each provider. */
const IntegrationConfig = body({
  url: optional(text(1, 2000)),
  folderId: optional(text(1, 200)),
  siteId: optional(
    text(1, maxSiteIdLength).annotations({
      description: "The tracker's site; the authorization fills it in, and from then on it stays what it is"
    })
  ),
  jql: optional(text(1, 500))
}).annotations({ identifier: "IntegrationConfig" })
export type IntegrationConfig = typeof IntegrationConfig.Type

const maxReasonLength = 1000

/** Makes a status reason storable. The text can come from a provider. */
export const toStatusReason = (reason: string) => toStorableText(reason, maxReasonLength) || "No reason was given"

const changeable = { name: text(1, 200), config: IntegrationConfig }

export const Integration = Schema.Struct({
  id: IntegrationId,
  provider: Provider,
  name: changeable.name,
  status: IntegrationStatus,
  statusReason: optional(text(1, maxReasonLength)),
  isAuthorized: Schema.Boolean,
  config: changeable.config,
  subscriptions: Schema.Array(Subscription),
  ...timestamps
}).annotations({ identifier: "Integration" })
export type Integration = typeof Integration.Type

/** The response to creation and rotation: only these contain the signing secret or the webhook URL. */
export const IntegrationWithSecret = Schema.Struct({
  ...Integration.fields,
  secret: optional(Schema.String.annotations({ description: "Signs deliveries; it is never shown again" })),
  webhookUrl: optional(
    Schema.String.annotations({ description: "Takes the tracker's webhooks; it is never shown again" })
  )
}).annotations({ identifier: "IntegrationWithSecret" })

export const CreateIntegration = body({
  provider: Provider,
  name: changeable.name,
  config: optional(IntegrationConfig)
}).annotations({ identifier: "CreateIntegration" })

export const PatchIntegration = patch(changeable).annotations({ identifier: "PatchIntegration" })

interface ConfigKeys {
  readonly required: ReadonlyArray<keyof IntegrationConfig>
  readonly known: ReadonlyArray<keyof IntegrationConfig>
}

const configKeys: Readonly<Record<Provider, ConfigKeys>> = {
  JIRA: { required: [], known: ["siteId", "jql"] },
  GOOGLE_DRIVE: { required: ["folderId"], known: ["folderId"] },
  WEBHOOK: { required: ["url"], known: ["url"] },
  NATS: { required: [], known: [] }
}

/** Validation errors of a provider's settings. */
export const configErrors = (provider: Provider, config: IntegrationConfig): ReadonlyArray<ErrorDetail> => {
  const { known, required }: { readonly known: ReadonlyArray<string>; readonly required: ReadonlyArray<string> } =
    configKeys[provider]
  const given = Object.keys(config)
  return [
    ...required
      .filter((key) => !given.includes(key))
      .map((key) => ({ field: `config.${key}`, constraint: "required", message: "is required" }) as const),
    ...given
      .filter((key) => !known.includes(key))
      .map(
        (key) => ({ field: `config.${key}`, constraint: "unknown", message: `means nothing to ${provider}` }) as const
      )
  ]
}

/**
 * Applies a change of settings. An authorized integration keeps its site: its tracked issues belong to that site, and
 * another site uses the same issue keys for other issues.
 */
export const applyConfigChange = ({ config, status }: Integration, requested: IntegrationConfig) => {
  const { siteId } = config
  if (status === "PENDING_AUTH" || siteId === undefined) return Either.right(requested)
  if (requested.siteId === undefined || requested.siteId === siteId) return Either.right({ ...requested, siteId })
  const message = `is ${siteId} since the integration was authorized; make another integration for another site`
  return Either.left(fieldError("config.siteId", "state", message))
}

/** Fails when the settings changed to another site while the authorization was in progress. */
export const requireSameSite = ({ config }: Integration, siteId: string | undefined) =>
  siteId === undefined || config.siteId === undefined || config.siteId === siteId
    ? Either.void
    : Either.left(fieldError("config.siteId", "state", "was changed since the authorization began; authorize again"))

/** Fails when the server lacks settings of the provider. `missing` names them. */
export const requireProviderConfigured = (provider: Provider, missing: ReadonlyArray<string>) =>
  missing.length === 0
    ? Either.void
    : Either.left(
        fieldError("provider", "state", `this server is not configured for ${provider}: it lacks ${missing.join(", ")}`)
      )

/** Status, authorization and subscriptions of a new integration. */
export const initialIntegrationState = (provider: Provider) =>
  isOAuthProvider(provider)
    ? ({ status: "PENDING_AUTH", isAuthorized: false, subscriptions: [] } as const)
    : ({ status: "ACTIVE", isAuthorized: true, subscriptions: [] } as const)

/** Fails unless the integration is authorized. Without authorization it cannot resume. */
export const requireAuthorized = ({ isAuthorized }: Integration) =>
  isAuthorized
    ? Either.void
    : Either.left(fieldError("isAuthorized", "state", "is false; authorize the integration first"))

/** Fails unless the provider supports ping events. */
export const requirePingable = ({ provider }: Integration) =>
  provider === "WEBHOOK" || provider === "NATS"
    ? Either.void
    : Either.left(fieldError("provider", "state", `is ${provider}; only WEBHOOK and NATS can be pinged`))

/** Whether deliveries to the provider are signed with a secret of the integration. */
export const hasSigningSecret = (provider: Provider) => provider === "WEBHOOK"

/** Whether the provider is an issue tracker, which sends inbound webhooks. */
export const isTracker = (provider: Provider) => provider === "JIRA"

/** Fails unless the integration has a signing secret or a webhook URL to rotate. */
export const requireRotatableSecret = ({ provider }: Integration) =>
  hasSigningSecret(provider) || isTracker(provider)
    ? Either.void
    : Either.left(fieldError("provider", "state", `is ${provider}, which has no secret`))
