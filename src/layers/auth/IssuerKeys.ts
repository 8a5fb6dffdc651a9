import { Effect, Schema } from "effect"
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwksCache
} from "jose"
import { isPrivatelyReached, Settings } from "../config/Settings.ts"
import { development, developmentKey, publicPart } from "./DevelopmentKey.ts"

/** The keys that sign tokens, found when the first token asks, and what those tokens must say. */
export interface Issuer {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

/** Keys that cannot be fetched are our trouble; everything else is wrong with the token. */
export const isOurTrouble = (cause: unknown) =>
  !(cause instanceof errors.JOSEError) ||
  cause instanceof errors.JWKSTimeout ||
  cause instanceof errors.JWKSInvalid ||
  cause.code === "ERR_JOSE_GENERIC"

/** How long the last good keys do while the issuer is away. Longer, and a key that it took back would be good for days. */
const maxStaleMillis = 6 * 60 * 60_000

/** Those whose key is known do not wait for an issuer that did not answer so recently. */
const cooldownMillis = 30_000

/** The keys at an address. While it does not answer, those it gave last are used; others are still asked for. */
const remoteKeys = (address: string): JWTVerifyGetKey => {
  const cache: { uat?: number; jwks?: JSONWebKeySet } = {}
  const remote = createRemoteJWKSet(new URL(address), { [jwksCache]: cache as Record<string, never> }) // filled by it
  let failedAt = Number.NEGATIVE_INFINITY

  const lastGood = async (...[header, token]: Parameters<JWTVerifyGetKey>) => {
    const { jwks, uat = 0 } = cache
    if (jwks === undefined || Date.now() - uat > maxStaleMillis) throw new errors.JWKSNoMatchingKey()
    return createLocalJWKSet(jwks)(header, token)
  }

  return async (header, token) => {
    if (Date.now() - failedAt < cooldownMillis) {
      const known = await lastGood(header, token).catch(() => undefined)
      if (known !== undefined) return known
    }
    return remote(header, token).catch((cause: unknown) => {
      if (!isOurTrouble(cause)) throw cause
      failedAt = Date.now()
      return lastGood(header, token).catch(() => {
        throw cause
      })
    })
  }
}

const discoveryTimeout = 5_000

const decodeDiscovery = Schema.decodeUnknownSync(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

const discover = async (issuer: string, isProduction: boolean) => {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeout), redirect: "error" })
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  const found = decodeDiscovery(await response.json())
  if (found.issuer !== issuer) throw new Error(`${address} speaks for ${found.issuer}, not for ${issuer}`)
  if (isProduction && !isPrivatelyReached(found.jwks_uri)) throw new Error(`${found.jwks_uri} is not an https address`)
  return remoteKeys(found.jwks_uri)
}

/** Discovers once; a failed attempt is forgotten, so that the next token tries again. */
const discovered = (issuer: string, isProduction: boolean): JWTVerifyGetKey => {
  let found: ReturnType<typeof discover> | undefined
  return async (header, token) => {
    found ??= discover(issuer, isProduction).catch((cause: unknown) => {
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
  const { AUTH_AUDIENCE: audience, AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks, NODE_ENV } = yield* Settings
  if (jwks !== undefined) return { keys: remoteKeys(jwks), issuer, audience } satisfies Issuer
  if (issuer !== undefined) {
    return { keys: discovered(issuer, NODE_ENV === "production"), issuer, audience } satisfies Issuer
  }
  return yield* ownKeys
})
