import { webcrypto } from "node:crypto"
import { Effect, Redacted } from "effect"
import { decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose"
import { Unauthorized } from "../../domain/Errors.ts"
import { Settings } from "../config/Settings.ts"

const longestToken = 8192
const toleranceSeconds = 60
const longestLifeSeconds = 24 * 60 * 60

/** The algorithm of the tracker's bearers. No issuer of ours may use it. */
const algorithm = "HS256"

/** Whether a bearer says of itself that it is the tracker's. Nothing of it is believed yet. */
export const isTrackers = (token: string) => {
  if (token.length > longestToken) return false
  try {
    return decodeProtectedHeader(token).alg === algorithm
  } catch {
    return false
  }
}

/** One that says when it was made is good for a day from then on, whatever else it says. */
const isYoung = ({ iat }: JWTPayload) => {
  if (iat === undefined) return true
  const age = Date.now() / 1000 - iat
  return typeof iat === "number" && age <= longestLifeSeconds + toleranceSeconds && age >= -toleranceSeconds
}

const keyOf = (secret: Redacted.Redacted) =>
  webcrypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(Redacted.value(secret)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"]
  )

/** Bearers a tracker signs with the secret of our app there. They say nothing of who sends, only that it is the tracker. */
export class TrackerTokens extends Effect.Service<TrackerTokens>()("layers/TrackerTokens", {
  effect: Effect.gen(function* () {
    const { JIRA_CLIENT_SECRET } = yield* Settings
    // Anything but a key of this kind would be made into one for every token.
    const key = JIRA_CLIENT_SECRET === undefined ? undefined : yield* Effect.promise(() => keyOf(JIRA_CLIENT_SECRET))
    const verify = (token: string): Effect.Effect<void, Unauthorized> => {
      if (key === undefined || token.length > longestToken) return Effect.fail(new Unauthorized())
      return Effect.tryPromise({
        try: () => jwtVerify(token, key, { algorithms: [algorithm], clockTolerance: toleranceSeconds }),
        catch: () => new Unauthorized()
      }).pipe(
        Effect.filterOrFail(
          ({ payload }) => isYoung(payload),
          () => new Unauthorized()
        ),
        Effect.asVoid
      )
    }
    return { verify }
  })
}) {}
