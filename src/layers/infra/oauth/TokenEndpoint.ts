import { Data, Effect, Option, Redacted, Schema } from "effect"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"
import type { OAuthApp } from "./OAuthApps.ts"
import { ProviderUnavailable, sendOAuthRequest } from "./OAuthRequest.ts"

/** The provider rejected the grant permanently. A retry gets the same response. */
export class TokenRequestRejected extends Data.TaggedError("TokenRequestRejected")<{ readonly code: string }> {}

/** The tokens of a grant and the expiry of the access token. */
export const TokenSet = Schema.Struct({
  accessToken: Schema.String,
  refreshToken: Schema.optionalWith(Schema.String, { exact: true }),
  /** Absent when the provider granted all requested scopes (RFC 6749, section 5.1). */
  scopes: Schema.optionalWith(Schema.String, { exact: true }),
  expiresAt: Schema.String
})
export type TokenSet = typeof TokenSet.Type

const TokenResponse = Schema.Struct({
  access_token: Schema.NonEmptyString,
  refresh_token: Schema.optional(Schema.NullOr(Schema.String)),
  scope: Schema.optional(Schema.NullOr(Schema.String)),
  expires_in: Schema.optional(Schema.Union(Schema.Number, Schema.NumberFromString))
})
const decodeTokenResponse = Schema.decodeUnknownOption(TokenResponse)
const decodeErrorResponse = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.String }))

/** Lifetime of an access token without `expires_in`, and the longest accepted value. */
const defaultLifetimeSeconds = 3600
const maxLifetimeSeconds = 30 * 24 * 3600

const expiryAfter = (seconds = defaultLifetimeSeconds) =>
  new Date(Date.now() + Math.min(Math.max(seconds, 0), maxLifetimeSeconds) * 1000).toISOString()

const toTokenSet = ({ access_token, expires_in, refresh_token, scope }: typeof TokenResponse.Type): TokenSet => ({
  accessToken: access_token,
  expiresAt: expiryAfter(expires_in),
  ...(refresh_token ? { refreshToken: refresh_token } : {}),
  ...(typeof scope === "string" ? { scopes: scope } : {})
})

/** OAuth error codes that no retry resolves. */
const permanentErrors = new Set(["invalid_grant", "unauthorized_client"])

const parseResponse = ({
  json,
  status
}: ProviderResponse): Effect.Effect<TokenSet, TokenRequestRejected | ProviderUnavailable> => {
  const response = decodeTokenResponse(json)
  if (status === 200 && Option.isSome(response)) return Effect.succeed(toTokenSet(response.value))
  const code = Option.match(decodeErrorResponse(json), { onNone: () => "", onSome: ({ error }) => error })
  return permanentErrors.has(code)
    ? Effect.fail(new TokenRequestRejected({ code }))
    : Effect.fail(new ProviderUnavailable({ message: `The provider answered ${status} to a request for tokens` }))
}

const formHeaders = { "content-type": "application/x-www-form-urlencoded" }

const requestTokens = (
  { clientId, clientSecret, encoding, tokenUrl }: OAuthApp,
  fields: Readonly<Record<string, string>>
) => {
  const parameters = { ...fields, client_id: clientId, client_secret: Redacted.value(clientSecret) }
  const isJson = encoding === "json"
  const headers = { accept: "application/json", ...(isJson ? { "content-type": "application/json" } : formHeaders) }
  const body = isJson ? JSON.stringify(parameters) : new URLSearchParams(parameters).toString()
  return Effect.flatMap(sendOAuthRequest({ method: "POST", url: tokenUrl, headers, body }), parseResponse)
}

/** Exchanges an authorization code for tokens (PKCE). */
export const exchangeAuthorizationCode = (app: OAuthApp, code: string, verifier: string) =>
  requestTokens(app, { grant_type: "authorization_code", code, redirect_uri: app.redirectUri, code_verifier: verifier })

export const refreshTokens = (app: OAuthApp, refreshToken: string) =>
  requestTokens(app, { grant_type: "refresh_token", refresh_token: refreshToken })

/** Revokes a token, best effort: without a revocation endpoint or after a failure the token stays valid until it expires. */
export const revokeToken = ({ revokeUrl }: OAuthApp, token: string): Effect.Effect<void> =>
  revokeUrl === undefined
    ? Effect.void
    : sendOAuthRequest({
        method: "POST",
        url: revokeUrl,
        headers: formHeaders,
        body: new URLSearchParams({ token }).toString()
      }).pipe(
        Effect.asVoid,
        Effect.catchAll((error) => Effect.logWarning(`Token revocation failed: ${error.message}`))
      )
