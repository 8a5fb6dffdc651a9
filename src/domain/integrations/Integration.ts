import { Effect, Schema } from "effect"
import { breaks, type Detail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { body, optional, patch, stamps, text } from "../Schemas.ts"
import { storableText } from "../StorableText.ts"
import { isOAuth } from "./Authorization.ts"
import { IntegrationStatus } from "./IntegrationStatus.ts"
import { Provider } from "./Provider.ts"
import { Subscription } from "./Subscription.ts"

export const IntegrationId = id("int", "integration")
export type IntegrationId = typeof IntegrationId.Type

export const mostOfSiteId = 100

/** Every setting some provider knows; which of them, a table below says. */
const Config = body({
  url: optional(text(1, 2000)),
  folderId: optional(text(1, 200)),
  siteId: optional(
    text(1, mostOfSiteId).annotations({
      description: "The tracker's site; the authorization fills it in, and from then on it stays what it is"
    })
  ),
  jql: optional(text(1, 500))
}).annotations({ identifier: "IntegrationConfig" })
export type Config = typeof Config.Type

const maxReason = 1000

/** Why an integration stands where it stands, in words that may be a provider's. */
export const statusReasonOf = (words: string) => storableText(words, maxReason) || "No reason was given"

const changeable = { name: text(1, 200), config: Config }

export const Integration = Schema.Struct({
  id: IntegrationId,
  provider: Provider,
  name: changeable.name,
  status: IntegrationStatus,
  statusReason: optional(text(1, maxReason)),
  isAuthorized: Schema.Boolean,
  config: changeable.config,
  subscriptions: Schema.Array(Subscription),
  ...stamps
}).annotations({ identifier: "Integration" })
export type Integration = typeof Integration.Type

/** What the one who made it, or its secret, is shown and nobody later: what signs deliveries, or where webhooks come in. */
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
  config: optional(Config)
}).annotations({ identifier: "CreateIntegration" })

export const PatchIntegration = patch(changeable).annotations({ identifier: "PatchIntegration" })

interface Keys {
  readonly needed: ReadonlyArray<keyof Config>
  readonly known: ReadonlyArray<keyof Config>
}

const keys: Readonly<Record<Provider, Keys>> = {
  JIRA: { needed: [], known: ["siteId", "jql"] },
  GOOGLE_DRIVE: { needed: ["folderId"], known: ["folderId"] },
  WEBHOOK: { needed: ["url"], known: ["url"] },
  NATS: { needed: [], known: [] }
}

/** What a provider objects to in its settings. */
export const configFaults = (provider: Provider, config: Config): ReadonlyArray<Detail> => {
  const { known, needed }: { readonly known: ReadonlyArray<string>; readonly needed: ReadonlyArray<string> } =
    keys[provider]
  const given = Object.keys(config)
  return [
    ...needed
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
 * The settings after a change. What was tracked of one site is no part of another, where the same names mean other issues:
 * so the site stays, once there is one that was authorized.
 */
export const configAfter = ({ config, status }: Integration, wanted: Config) => {
  const { siteId } = config
  if (status === "PENDING_AUTH" || siteId === undefined) return Effect.succeed(wanted)
  if (wanted.siteId === undefined || wanted.siteId === siteId) return Effect.succeed({ ...wanted, siteId })
  const message = `is ${siteId} since the integration was authorized; make another integration for another site`
  return Effect.fail(breaks("config.siteId", "state", message))
}

/** Fails when the settings name another site by now than the one that was authorized. */
export const mayBind = ({ config }: Integration, siteId: string | undefined) =>
  siteId === undefined || config.siteId === undefined || config.siteId === siteId
    ? Effect.void
    : Effect.fail(breaks("config.siteId", "state", "was changed since the authorization began; authorize again"))

/** Fails for a provider this server was not told how to reach: the settings `missing` would have told. */
export const mayConnect = (provider: Provider, missing: ReadonlyArray<string>) =>
  missing.length === 0
    ? Effect.void
    : Effect.fail(
        breaks("provider", "state", `this server is not configured for ${provider}: it lacks ${missing.join(", ")}`)
      )

/** What an integration is before anything happened to it. */
export const freshFor = (provider: Provider) =>
  isOAuth(provider)
    ? ({ status: "PENDING_AUTH", isAuthorized: false, subscriptions: [] } as const)
    : ({ status: "ACTIVE", isAuthorized: true, subscriptions: [] } as const)

/** Fails for an integration that would go on to no avail. */
export const mayGoOn = ({ isAuthorized }: Integration) =>
  isAuthorized ? Effect.void : Effect.fail(breaks("isAuthorized", "state", "is false; authorize the integration first"))

/** Fails for an integration nobody sends events to on demand. */
export const mayPing = ({ provider }: Integration) =>
  provider === "WEBHOOK" || provider === "NATS"
    ? Effect.void
    : Effect.fail(breaks("provider", "state", `is ${provider}; only WEBHOOK and NATS can be pinged`))

/** Whether what goes to a provider is signed with a secret of ours. */
export const isSigned = (provider: Provider) => provider === "WEBHOOK"

/** Whether a provider sends us webhooks. */
export const isTracker = (provider: Provider) => provider === "JIRA"

/** Fails for an integration that has nothing secret to be replaced. */
export const mayRotate = ({ provider }: Integration) =>
  isSigned(provider) || isTracker(provider)
    ? Effect.void
    : Effect.fail(breaks("provider", "state", `is ${provider}, which has no secret`))
