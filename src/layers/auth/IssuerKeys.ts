import { Effect, Schema } from "effect"
import { createLocalJWKSet, createRemoteJWKSet, type JWTVerifyGetKey } from "jose"
import { Settings } from "../config/Settings.ts"
import { development, developmentKey, publicPart } from "./DevelopmentKey.ts"

/** The keys that sign tokens, found when the first token asks, and what those tokens must say. */
export interface Issuer {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

const discoveryTimeout = 5_000

const decodeDiscovery = Schema.decodeUnknownSync(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

const discover = async (issuer: string) => {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeout), redirect: "error" })
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  const found = decodeDiscovery(await response.json())
  if (found.issuer !== issuer) throw new Error(`${address} speaks for ${found.issuer}, not for ${issuer}`)
  return createRemoteJWKSet(new URL(found.jwks_uri))
}

/** Discovers once; a failed attempt is forgotten, so that the next token tries again. */
const discovered = (issuer: string): JWTVerifyGetKey => {
  let found: ReturnType<typeof discover> | undefined
  return async (header, token) => {
    found ??= discover(issuer).catch((cause: unknown) => {
      found = undefined
      throw cause
    })
    return (await found)(header, token)
  }
}

const ownKeys = Effect.map(
  developmentKey,
  (key): Issuer => ({ keys: createLocalJWKSet({ keys: [publicPart(key)] }), ...development })
)

/** The configured issuer, or in development the key of the data directory. */
export const issuer = Effect.gen(function* () {
  const { AUTH_AUDIENCE: audience, AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks } = yield* Settings
  if (jwks !== undefined) return { keys: createRemoteJWKSet(new URL(jwks)), issuer, audience } satisfies Issuer
  if (issuer !== undefined) return { keys: discovered(issuer), issuer, audience } satisfies Issuer
  return yield* ownKeys
})
