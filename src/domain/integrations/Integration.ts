import { Either, Schema } from "effect"
import { EmailAddress } from "../contracting/EmailAddress.ts"
import { type ErrorDetail, fieldError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { allMailTextErrors, MailTexts } from "../mails/MailTexts.ts"
import { body, field, integer, oneOf, optional, patch, text, timestamps } from "../Schemas.ts"
import { toStorableText } from "../StorableText.ts"
import { isOAuthProvider } from "./Authorization.ts"
import { IntegrationStatus } from "./IntegrationStatus.ts"
import { Provider } from "./Provider.ts"
import { Subscription } from "./Subscription.ts"

export const IntegrationId = id("int", "integration")
export type IntegrationId = typeof IntegrationId.Type

export const maxSiteIdLength = 100

/** The settings of all providers. `configKeys` lists those of each provider. */
export const IntegrationConfig = body({
  url: optional(
    field(text(1, 2000), "WEBHOOK: the URL that receives events, on a public host.", "https://books.example.com/hook")
  ),
  folderId: optional(field(text(1, 200), "GOOGLE_DRIVE: the folder that receives the files.")),
  siteId: optional(
    field(
      text(1, maxSiteIdLength),
      "JIRA: identifier of the Jira site. The authorization fills it in, and then it cannot change."
    )
  ),
  jql: optional(field(text(1, 500), "JIRA: a JQL filter of the issues to track.")),
  host: optional(field(text(1, 253), "EMAIL: your mail server. Default: that of the operator.", "mail.example.com")),
  port: optional(field(integer(1, 65_535), "EMAIL: port of the mail server.", 587)),
  security: optional(
    field(oneOf("TLS", "STARTTLS"), "EMAIL: TLS from the start, usually on port 465, or STARTTLS.", "STARTTLS")
  ),
  user: optional(field(text(1, 200), "EMAIL: user at the mail server, whose password is `password`.", "books")),
  from: optional(field(EmailAddress, "EMAIL: the address that mails come from.", "books@example.com")),
  replyTo: optional(field(EmailAddress, "EMAIL: the address that answers go to.", "office@example.com")),
  texts: optional(field(MailTexts, "EMAIL: subjects and messages, by language."))
}).annotations({
  identifier: "IntegrationConfig",
  description:
    "Settings of the provider. WEBHOOK needs `url`, GOOGLE_DRIVE needs `folderId`, NATS has none. EMAIL needs `host`, " +
    "`port`, `security` and `from`, or none of them to use the mail server of the operator."
})
export type IntegrationConfig = typeof IntegrationConfig.Type

const maxReasonLength = 1000

/** Makes a status reason storable. The text can come from a provider. */
export const toStatusReason = (reason: string) => toStorableText(reason, maxReasonLength) || "No reason was given"

const changeable = {
  name: field(text(1, 200), "Name of the integration, chosen by you.", "Books"),
  config: IntegrationConfig
}

const password = field(text(1, 1000), "EMAIL: password of `config.user`. No response shows it.", "correct horse")

export const Integration = Schema.Struct({
  id: IntegrationId,
  provider: Provider,
  name: changeable.name,
  status: IntegrationStatus,
  statusReason: optional(field(text(1, maxReasonLength), "Why the integration stopped, and what to do.")),
  isAuthorized: field(
    Schema.Boolean,
    "Whether the provider lets the service in. Always true for WEBHOOK, NATS and EMAIL.",
    true
  ),
  config: changeable.config,
  subscriptions: field(Schema.Array(Subscription), "Which events it gets."),
  ...timestamps
}).annotations({ identifier: "Integration", description: "A connection to another system, with its subscriptions." })
export type Integration = typeof Integration.Type

/** The response to creation and rotation: only these contain the signing secret or the webhook URL. */
export const IntegrationWithSecret = Schema.Struct({
  ...Integration.fields,
  secret: optional(
    field(
      Schema.String,
      "WEBHOOK: secret that signs deliveries. No other response shows it.",
      "whsec_ZXhhbXBsZS1vbmx5LW5vdC1hLXJlYWwtc2VjcmV0"
    )
  ),
  webhookUrl: optional(
    field(Schema.String, "JIRA: URL that takes webhooks of the tracker. No other response shows it.")
  )
}).annotations({
  identifier: "IntegrationWithSecret",
  description: "An integration with its secret or its webhook URL, if the provider has one."
})

export const CreateIntegration = body({
  provider: Provider,
  name: changeable.name,
  config: optional(IntegrationConfig),
  password: optional(password)
}).annotations({ identifier: "CreateIntegration", description: "A new integration." })

export const PatchIntegration = patch({ ...changeable, password }).annotations({
  identifier: "PatchIntegration",
  description: "The fields of an integration to change. `config` replaces all settings."
})

interface ConfigKeys {
  readonly required: ReadonlyArray<keyof IntegrationConfig>
  readonly known: ReadonlyArray<keyof IntegrationConfig>
}

const configKeys: Readonly<Record<Provider, ConfigKeys>> = {
  JIRA: { required: [], known: ["siteId", "jql"] },
  GOOGLE_DRIVE: { required: ["folderId"], known: ["folderId"] },
  WEBHOOK: { required: ["url"], known: ["url"] },
  NATS: { required: [], known: [] },
  EMAIL: { required: [], known: ["host", "port", "security", "user", "from", "replyTo", "texts"] }
}

const mailServerKeys = ["host", "port", "security", "from"] as const

/** An EMAIL integration without any of these settings uses the mail server of the operator. */
export const ownMailServerKeys = [...mailServerKeys, "user"] as const

export const usesSharedMailServer = (config: IntegrationConfig) =>
  ownMailServerKeys.every((key) => config[key] === undefined)

const requiredKeys = (provider: Provider, config: IntegrationConfig): ReadonlyArray<string> =>
  provider === "EMAIL" && !usesSharedMailServer(config) ? mailServerKeys : configKeys[provider].required

/** Validation errors of a provider's settings. */
export const configErrors = (provider: Provider, config: IntegrationConfig): ReadonlyArray<ErrorDetail> => {
  const { known }: { readonly known: ReadonlyArray<string> } = configKeys[provider]
  const given = Object.keys(config)
  return [
    ...requiredKeys(provider, config)
      .filter((key) => !given.includes(key))
      .map((key) => ({ field: `config.${key}`, constraint: "required", message: "is required" }) as const),
    ...given
      .filter((key) => !known.includes(key))
      .map(
        (key) =>
          ({ field: `config.${key}`, constraint: "unknown", message: `is not supported for ${provider}` }) as const
      ),
    ...allMailTextErrors(config.texts ?? {}, "config.texts.")
  ]
}

interface MailLogin {
  readonly provider: Provider
  /** The settings so far. Undefined for a new integration. */
  readonly before: IntegrationConfig | undefined
  readonly config: IntegrationConfig
  readonly password: string | undefined
}

/**
 * Fails unless a user has a password, and the other way round. Another server or user needs the password again: who
 * changes the settings could otherwise have it sent to a server of their own.
 */
export const requireMailLogin = ({ before, config, password, provider }: MailLogin) => {
  if (password !== undefined && config.user === undefined) {
    const message = provider === "EMAIL" ? "needs config.user" : `is not supported for ${provider}`
    return Either.left(fieldError("password", provider === "EMAIL" ? "state" : "unknown", message))
  }
  const isSameLogin =
    before !== undefined &&
    before.user === config.user &&
    before.host === config.host &&
    before.port === config.port &&
    before.security === config.security
  return config.user === undefined || password !== undefined || isSameLogin
    ? Either.void
    : Either.left(fieldError("password", "required", "is required for config.user, and again when the server changes"))
}

/**
 * Applies a change of settings. An authorized integration keeps its site: its tracked issues belong to that site, and
 * another site uses the same issue keys for other issues.
 */
export const applyConfigChange = ({ config, status }: Integration, requested: IntegrationConfig) => {
  const { siteId } = config
  if (status === "PENDING_AUTH" || siteId === undefined) return Either.right(requested)
  if (requested.siteId === undefined || requested.siteId === siteId) return Either.right({ ...requested, siteId })
  const message = `is ${siteId} since the authorization and cannot change; create another integration for another site`
  return Either.left(fieldError("config.siteId", "state", message))
}

/** Fails when the settings changed to another site while the authorization was in progress. */
export const requireSameSite = ({ config }: Integration, siteId: string | undefined) =>
  siteId === undefined || config.siteId === undefined || config.siteId === siteId
    ? Either.void
    : Either.left(fieldError("config.siteId", "state", "has changed since the authorization began; authorize again"))

/** Fails when the server lacks settings of the provider. `missing` names them. */
export const requireProviderConfigured = (provider: Provider, missing: ReadonlyArray<string>) =>
  missing.length === 0
    ? Either.void
    : Either.left(
        fieldError(
          "provider",
          "state",
          `is ${provider}, which this server is not configured for: the operator must set ${missing.join(", ")}`
        )
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
    : Either.left(fieldError("provider", "state", `is ${provider}; only WEBHOOK and NATS integrations can be pinged`))

/** Whether deliveries to the provider are signed with a secret of the integration. */
export const hasSigningSecret = (provider: Provider) => provider === "WEBHOOK"

/** Whether the provider is an issue tracker, which sends inbound webhooks. */
export const isTracker = (provider: Provider) => provider === "JIRA"

/** Fails unless the integration has a signing secret or a webhook URL to rotate. */
export const requireRotatableSecret = ({ provider }: Integration) =>
  hasSigningSecret(provider) || isTracker(provider)
    ? Either.void
    : Either.left(fieldError("provider", "state", `is ${provider}, which has no secret to rotate`))
