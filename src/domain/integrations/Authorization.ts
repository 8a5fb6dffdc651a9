import { Either, Schema } from "effect"
import { fieldError } from "../Errors.ts"
import { body, optional, text } from "../Schemas.ts"
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
  origin: text(1, 300).annotations({ description: "Origin of the page that opens the popup; it must be a trusted one" })
}).annotations({ identifier: "BeginAuthorization" })

export const BegunAuthorization = Schema.Struct({
  authorizationUrl: Schema.String.annotations({ description: "To be opened in a popup within ten minutes, once" })
}).annotations({ identifier: "BegunAuthorization" })

export const ConfirmAuthorization = body({
  confirmation: text(1, 100).annotations({ description: "What the popup told the page that opened it" })
}).annotations({ identifier: "ConfirmAuthorization" })

/** Query parameters of the OAuth redirect. */
export const CallbackQuery = Schema.Struct({
  code: optional(Schema.String),
  state: optional(Schema.String),
  error: optional(Schema.String),
  error_description: optional(Schema.String)
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
