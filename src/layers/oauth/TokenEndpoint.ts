import { Data, Effect, Option, Redacted, Schema } from "effect"
import type { App } from "./Apps.ts"
import { ask, ProviderAway, type Told } from "./Ask.ts"

/** The provider will not give tokens for what it was given, however often it is asked. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: string }> {}

/** What a provider hands out, with the moment the access token stops working. */
export const Granted = Schema.Struct({
  accessToken: Schema.String,
  refreshToken: Schema.optionalWith(Schema.String, { exact: true }),
  /** Left out by a provider when everything that was asked for was granted. */
  scopes: Schema.optionalWith(Schema.String, { exact: true }),
  expiresAt: Schema.String
})
export type Granted = typeof Granted.Type

const Answer = Schema.Struct({
  access_token: Schema.NonEmptyString,
  refresh_token: Schema.optional(Schema.NullOr(Schema.String)),
  scope: Schema.optional(Schema.NullOr(Schema.String)),
  expires_in: Schema.optional(Schema.Union(Schema.Number, Schema.NumberFromString))
})
const answerOf = Schema.decodeUnknownOption(Answer)
const errorOf = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.String }))

/** What an access token is good for unless its provider says, and the most that is believed. */
const usualSeconds = 3600
const mostSeconds = 30 * 24 * 3600

const expiryAfter = (seconds = usualSeconds) =>
  new Date(Date.now() + Math.min(Math.max(seconds, 0), mostSeconds) * 1000).toISOString()

const grantedBy = ({ access_token, expires_in, refresh_token, scope }: typeof Answer.Type): Granted => ({
  accessToken: access_token,
  expiresAt: expiryAfter(expires_in),
  ...(refresh_token ? { refreshToken: refresh_token } : {}),
  ...(typeof scope === "string" ? { scopes: scope } : {})
})

/** Refusals that are about us rather than about the moment. */
const final = new Set(["invalid_grant", "unauthorized_client"])

const judge = ({ body, status }: Told): Effect.Effect<Granted, Refused | ProviderAway> => {
  const answer = answerOf(body)
  if (status === 200 && Option.isSome(answer)) return Effect.succeed(grantedBy(answer.value))
  const code = Option.match(errorOf(body), { onNone: () => "", onSome: ({ error }) => error })
  return final.has(code)
    ? Effect.fail(new Refused({ code }))
    : Effect.fail(new ProviderAway({ what: `answered ${status} to a request for tokens` }))
}

const post = ({ clientId, clientSecret, encoding, tokenUrl }: App, fields: Readonly<Record<string, string>>) => {
  const all = { ...fields, client_id: clientId, client_secret: Redacted.value(clientSecret) }
  const headers = {
    accept: "application/json",
    "content-type": encoding === "json" ? "application/json" : "application/x-www-form-urlencoded"
  }
  const body = encoding === "json" ? JSON.stringify(all) : new URLSearchParams(all).toString()
  return Effect.flatMap(ask(tokenUrl, { method: "POST", headers, body }), judge)
}

/** The tokens for a code that somebody brought back. */
export const exchange = (app: App, code: string, verifier: string) =>
  post(app, { grant_type: "authorization_code", code, redirect_uri: app.redirectUri, code_verifier: verifier })

export const refresh = (app: App, refreshToken: string) =>
  post(app, { grant_type: "refresh_token", refresh_token: refreshToken })

/** Gives a token back, as well as that goes: where there is no way to, or nobody answers, it is left to expire. */
export const revoke = ({ revokeUrl }: App, token: string): Effect.Effect<void> =>
  revokeUrl === undefined
    ? Effect.void
    : ask(revokeUrl, { method: "POST", body: new URLSearchParams({ token }) }).pipe(
        Effect.asVoid,
        Effect.catchAll((away) => Effect.logWarning(`A token could not be given back: ${away.message}`))
      )
