import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import { imagePath } from "../../../domain/branding/Asset.ts"
import { Secrets } from "../secrets/Secrets.ts"

const windowSeconds = 600

/** A URL is valid for 10 to 20 minutes. All URLs of a 10-minute window are equal. */
const expiryAt = (now: number) => (Math.floor(now / 1000 / windowSeconds) + 2) * windowSeconds

/** Signed URLs: anyone with the URL can open the image until it expires. */
export class SignedUrls extends Effect.Service<SignedUrls>()("layers/SignedUrls", {
  dependencies: [Secrets.Default],
  effect: Effect.map(Secrets, (secrets) => {
    const keys = secrets.deriveKeys("signed asset addresses")
    /** The signature by each key, the newest first. */
    const signaturesOf = (assetId: string, expires: number) =>
      keys.map((key) => createHmac("sha256", key).update(`${assetId}.${expires}`).digest("base64url"))
    const isSame = (expected: string, given: string) => {
      const [one, other] = [Buffer.from(expected), Buffer.from(given)]
      return one.length === other.length && timingSafeEqual(one, other)
    }

    return {
      sign: (assetId: string, now = Date.now()) => {
        const expires = expiryAt(now)
        return `${imagePath(assetId)}?expires=${expires}&signature=${signaturesOf(assetId, expires)[0]}`
      },

      isValid: (assetId: string, expires: number, given: string, now = Date.now()) =>
        expires * 1000 > now && signaturesOf(assetId, expires).some((expected) => isSame(expected, given))
    }
  })
}) {}
