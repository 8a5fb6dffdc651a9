import { Effect, Schema } from "effect"
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwksCache
} from "jose"
import { isSecureUrl } from "../config/SettingConflicts.ts"
import { Settings } from "../config/Settings.ts"
import { developmentIssuer, developmentKey, toPublicJwk } from "./DevelopmentKey.ts"

/** The keys that verify tokens, fetched at the first token, and the required claims. */
export interface Issuer {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

/** Whether the keys could not be fetched. Every other error means an invalid token. */
export const isKeyFetchError = (cause: unknown) =>
  !(cause instanceof errors.JOSEError) ||
  cause instanceof errors.JWKSTimeout ||
  cause instanceof errors.JWKSInvalid ||
  cause.code === "ERR_JOSE_GENERIC"

/** How long cached keys are used while the issuer is unreachable. It bounds how long a revoked key stays valid. */
const maxStaleMillis = 6 * 60 * 60_000

/** After a failed fetch, tokens with a cached key do not wait for the issuer for this long. */
const cooldownMillis = 30_000

/** Keys from a JWKS URL. While it is unreachable, cached keys are used; keys that are not cached are still fetched. */
const remoteKeys = (url: string): JWTVerifyGetKey => {
  const cache: { uat?: number; jwks?: JSONWebKeySet } = {}
  const remote = createRemoteJWKSet(new URL(url), { [jwksCache]: cache as Record<string, never> }) // jose fills it
  let failedAt = Number.NEGATIVE_INFINITY

  const cachedKeys = async (...[header, token]: Parameters<JWTVerifyGetKey>) => {
    const { jwks, uat = 0 } = cache
    if (jwks === undefined || Date.now() - uat > maxStaleMillis) throw new errors.JWKSNoMatchingKey()
    return createLocalJWKSet(jwks)(header, token)
  }

  return async (header, token) => {
    if (Date.now() - failedAt < cooldownMillis) {
      const cachedKey = await cachedKeys(header, token).catch(() => undefined)
      if (cachedKey !== undefined) return cachedKey
    }
    return remote(header, token).catch((cause: unknown) => {
      if (!isKeyFetchError(cause)) throw cause
      failedAt = Date.now()
      return cachedKeys(header, token).catch(() => {
        throw cause
      })
    })
  }
}

const discoveryTimeoutMs = 5_000

const decodeDiscovery = Schema.decodeUnknownSync(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

const discover = async (issuer: string, isProduction: boolean) => {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(discoveryTimeoutMs), redirect: "error" })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const found = decodeDiscovery(await response.json())
  if (found.issuer !== issuer) throw new Error(`${url} returned the issuer ${found.issuer} instead of ${issuer}`)
  if (isProduction && !isSecureUrl(found.jwks_uri)) throw new Error(`${found.jwks_uri} is not an https URL`)
  return remoteKeys(found.jwks_uri)
}

/** Discovers once. A failure is not cached, so that the next token retries. */
const discoverOnFirstUse = (issuer: string, isProduction: boolean): JWTVerifyGetKey => {
  let found: ReturnType<typeof discover> | undefined
  return async (header, token) => {
    found ??= discover(issuer, isProduction).catch((cause: unknown) => {
      found = undefined
      throw cause
    })
    return (await found)(header, token)
  }
}

const loadDevelopmentIssuer = Effect.map(
  developmentKey,
  (key): Issuer => ({ keys: createLocalJWKSet({ keys: [toPublicJwk(key)] }), ...developmentIssuer })
)

/** The configured issuer, or in development the key of the data directory. */
export const loadIssuer = Effect.gen(function* () {
  const { AUTH_AUDIENCE: audience, AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks, NODE_ENV } = yield* Settings
  if (jwks !== undefined) return { keys: remoteKeys(jwks), issuer, audience } satisfies Issuer
  if (issuer !== undefined) {
    return { keys: discoverOnFirstUse(issuer, NODE_ENV === "production"), issuer, audience } satisfies Issuer
  }
  return yield* loadDevelopmentIssuer
})
