import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import { imagePath } from "../../domain/branding/Asset.ts"
import { Secrets } from "../secrets/Secrets.ts"

const windowSeconds = 600

/** A URL is valid for 10 to 20 minutes. All URLs of a 10-minute window are equal. */
const expiryAt = (now: number) => (Math.floor(now / 1000 / windowSeconds) + 2) * windowSeconds

/** Signed URLs: anyone with the URL can open the image until it expires. */
export class SignedUrls extends Effect.Service<SignedUrls>()("layers/SignedUrls", {
  dependencies: [Secrets.Default],
  effect: Effect.map(Secrets, (secrets) => {
    const key = secrets.deriveKey("signed asset addresses")
    const signatureOf = (assetId: string, expires: number) =>
      createHmac("sha256", key).update(`${assetId}.${expires}`).digest("base64url")

    return {
      sign: (assetId: string, now = Date.now()) => {
        const expires = expiryAt(now)
        return `${imagePath(assetId)}?expires=${expires}&signature=${signatureOf(assetId, expires)}`
      },

      isValid: (assetId: string, expires: number, given: string, now = Date.now()) => {
        const expected = Buffer.from(signatureOf(assetId, expires))
        const bytes = Buffer.from(given)
        return expires * 1000 > now && bytes.length === expected.length && timingSafeEqual(bytes, expected)
      }
    }
  })
}) {}
