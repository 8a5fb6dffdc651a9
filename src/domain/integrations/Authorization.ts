import { Either, Schema } from "effect"
import { fieldError } from "../Errors.ts"
import { body, field, optional, text } from "../Schemas.ts"
import type { Provider } from "./Provider.ts"

/** Providers that users authorize through OAuth. */
export type OAuthProvider = Extract<Provider, "JIRA" | "GOOGLE_DRIVE">

export const isOAuthProvider = (provider: Provider): provider is OAuthProvider =>
  provider === "JIRA" || provider === "GOOGLE_DRIVE"

/** Returns the provider of an integration. Fails unless it uses OAuth. */
export const requireOAuthProvider = ({ provider }: { readonly provider: Provider }) =>
  isOAuthProvider(provider)
    ? Either.right(provider)
    : Either.left(fieldError("provider", "state", `is ${provider}, which needs no authorization`))

export const BeginAuthorization = body({
  origin: field(
    text(1, 300),
    "Origin of your page that opens the popup. The operator must have listed it as trusted.",
    "https://app.example.com"
  )
}).annotations({ identifier: "BeginAuthorization", description: "Where the authorization starts." })

export const BegunAuthorization = Schema.Struct({
  authorizationUrl: field(
    Schema.String,
    "Page of the provider to open in a popup. It works once, within ten minutes.",
    "https://auth.example.com/authorize?client_id=contracting&state=k3Jx9fQ2"
  )
}).annotations({ identifier: "AuthorizationUrl", description: "Where the user authorizes the integration." })

export const ConfirmAuthorization = body({
  confirmation: field(
    text(1, 100),
    "The code that the popup posted to your page.",
    "mG7pVq0w3nXzY5tR8sK2jLhB4cD6fAeU9iOoPl1QbNs"
  )
}).annotations({ identifier: "ConfirmAuthorization", description: "Proof that you started the authorization." })

/** Query parameters of the OAuth redirect. */
export const CallbackQuery = Schema.Struct({
  code: optional(field(Schema.String, "Authorization code of the provider.", "0-4aXyq2bTz")),
  state: optional(field(Schema.String, "State of the authorization URL. It works once.", "k3Jx9fQ2")),
  error: optional(field(Schema.String, "Error code of the provider, if it gave no authorization code.")),
  error_description: optional(field(Schema.String, "Error message of the provider."))
})

/** Messages that the callback page shows when an authorization fails, by error code. */
export const authorizationErrorMessages = {
  invalid_state: "This authorization is unknown, has expired or was already used. Please start again.",
  access_denied: "The authorization was declined.",
  provider_error: "The provider could not complete the authorization. Please start again.",
  provider_unavailable: "The provider did not answer in time. Please start again later.",
  insufficient_scope: "A required permission was not granted. Please start again and grant all permissions.",
  site_not_chosen:
    "The account has access to several sites. Please set siteId in the settings of the integration first.",
  site_not_reached: "The account has no access to the site in the settings of the integration.",
  site_changed: "The site in the settings of the integration has changed. Please start again.",
  integration_gone: "The integration does not exist any more."
} as const

export type AuthorizationErrorCode = keyof typeof authorizationErrorMessages
