import { hash } from "node:crypto"
import { Data, Effect } from "effect"
import { type JWTVerifyOptions, jwtVerify } from "jose"
import { ServiceUnavailable, Unauthorized } from "../../../domain/Errors.ts"
import type { Principal } from "../../../domain/tenancy/RequestContext.ts"
import { Settings } from "../config/Settings.ts"
import { ExpiringCache } from "./ExpiringCache.ts"
import { isKeyFetchError, loadIssuer } from "./IssuerKeys.ts"

/** In milliseconds. It bounds how long a token stays valid after its key is revoked. */
const maxCacheAge = 60_000
const maxCachedTokens = 10_000

class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{ readonly cause: unknown }> {}

/** Bounds the cost of hashing. Real tokens are shorter. */
const maxTokenLength = 8192
const maxNameLength = 255

const isName = (value: unknown): value is string =>
  typeof value === "string" &&
  value !== "" &&
  value.length <= maxNameLength &&
  !value.includes("\u0000") &&
  value.isWellFormed()

/** Verifies bearer tokens and returns their principals. */
export class TokenVerifier extends Effect.Service<TokenVerifier>()("layers/TokenVerifier", {
  effect: Effect.gen(function* () {
    const { AUTH_ALGORITHMS } = yield* Settings
    const { audience, issuer: expectedIssuer, keys } = yield* loadIssuer
    const options: JWTVerifyOptions = {
      algorithms: [...AUTH_ALGORITHMS],
      requiredClaims: ["exp", "sub", "iss"],
      ...(expectedIssuer === undefined ? {} : { issuer: expectedIssuer }),
      ...(audience === undefined ? {} : { audience })
    }
    /** The principals of verified tokens, by digest. */
    const cache = new ExpiringCache<Principal["Type"]>(maxCachedTokens)

    const verify = (token: string, digest: string) =>
      Effect.tryPromise({
        try: () => jwtVerify(token, keys, options),
        catch: (cause) => (isKeyFetchError(cause) ? new KeysUnavailable({ cause }) : new Unauthorized())
      }).pipe(
        Effect.catchTag("KeysUnavailable", ({ cause }) =>
          Effect.zipRight(
            Effect.logWarning("Cannot fetch the issuer's keys", cause),
            Effect.fail(new ServiceUnavailable())
          )
        ),
        Effect.flatMap(({ payload: { exp = 0, iss, sub } }) => {
          if (!isName(iss) || !isName(sub)) return Effect.fail(new Unauthorized())
          const principal = { issuer: iss, subject: sub }
          cache.set(digest, principal, Math.min(exp * 1000, Date.now() + maxCacheAge))
          return Effect.succeed(principal)
        })
      )

    const digestOf = (token: string) => hash("sha256", token, "base64")

    return {
      /** The cached principal of a token that was verified less than a minute ago and has not expired. */
      findCached: (token: string): Principal["Type"] | undefined =>
        token.length > maxTokenLength ? undefined : cache.get(digestOf(token), Date.now()),

      /** The principal of a token, from the cache if possible. */
      verify: (token: string): Effect.Effect<Principal["Type"], Unauthorized | ServiceUnavailable> => {
        if (token.length > maxTokenLength) return Effect.fail(new Unauthorized())
        const digest = digestOf(token)
        const cached = cache.get(digest, Date.now())
        return cached === undefined ? verify(token, digest) : Effect.succeed(cached)
      }
    }
  })
}) {}
