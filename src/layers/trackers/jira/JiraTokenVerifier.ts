import { webcrypto } from "node:crypto"
import { Effect, Redacted } from "effect"
import { decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose"
import { Unauthorized } from "../../../domain/Errors.ts"
import { Settings } from "../../infra/config/Settings.ts"

const maxTokenLength = 8192
const toleranceSeconds = 60
const maxAgeSeconds = 24 * 60 * 60

/** Jira signs its webhooks with HS256. AUTH_ALGORITHMS must not contain it. */
const algorithm = "HS256"

/** Whether a token claims to be from Jira. Its signature is not verified yet. */
export const isJiraToken = (token: string) => {
  if (token.length > maxTokenLength) return false
  try {
    return decodeProtectedHeader(token).alg === algorithm
  } catch {
    return false
  }
}

/** A token with `iat` expires a day later, whatever its other claims say. */
const isWithinMaxAge = ({ iat }: JWTPayload) => {
  if (iat === undefined) return true
  const age = Date.now() / 1000 - iat
  return typeof iat === "number" && age <= maxAgeSeconds + toleranceSeconds && age >= -toleranceSeconds
}

const keyOf = (secret: Redacted.Redacted) =>
  webcrypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(Redacted.value(secret)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"]
  )

/** Verifies tokens that Jira signs with the secret of our app. They identify Jira, not a user. */
export class JiraTokenVerifier extends Effect.Service<JiraTokenVerifier>()("layers/JiraTokenVerifier", {
  effect: Effect.gen(function* () {
    const { JIRA_CLIENT_SECRET } = yield* Settings
    // Imported once: jose would import any other form of the key for every token.
    const key = JIRA_CLIENT_SECRET === undefined ? undefined : yield* Effect.promise(() => keyOf(JIRA_CLIENT_SECRET))
    const verify = (token: string): Effect.Effect<void, Unauthorized> => {
      if (key === undefined || token.length > maxTokenLength) return Effect.fail(new Unauthorized())
      return Effect.tryPromise({
        try: () => jwtVerify(token, key, { algorithms: [algorithm], clockTolerance: toleranceSeconds }),
        catch: () => new Unauthorized()
      }).pipe(
        Effect.filterOrFail(
          ({ payload }) => isWithinMaxAge(payload),
          () => new Unauthorized()
        ),
        Effect.asVoid
      )
    }
    return { verify }
  })
}) {}
