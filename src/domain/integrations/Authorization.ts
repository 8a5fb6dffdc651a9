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
  invalid_state: "This authorization is unknown, has expired or was used already. Please begin again.",
  access_denied: "The authorization was declined.",
  provider_error: "The provider could not complete the authorization. Please begin again.",
  provider_unavailable: "The provider did not answer in time. Please begin again in a while.",
  insufficient_scope: "Not everything that is needed was allowed. Please begin again and leave every box ticked.",
  site_not_chosen: "The account reaches several sites. Please name one in the settings of the integration first.",
  site_not_reached: "The account does not reach the site that the settings of the integration name.",
  site_changed: "The settings of the integration name another site by now. Please begin again.",
  integration_gone: "The integration is not there any more."
} as const

export type AuthorizationErrorCode = keyof typeof authorizationErrorMessages
