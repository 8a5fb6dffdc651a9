import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import { imagePath } from "../../domain/branding/Asset.ts"
import { Secrets } from "../secrets/Secrets.ts"

const windowSeconds = 600

/** An address is good for ten to twenty minutes, and is the same for everyone who asks within the same ten. */
const expiryAt = (now: number) => (Math.floor(now / 1000 / windowSeconds) + 2) * windowSeconds

/** Addresses that whoever has them may use for a while. */
export class SignedUrls extends Effect.Service<SignedUrls>()("layers/SignedUrls", {
  dependencies: [Secrets.Default],
  effect: Effect.map(Secrets, (secrets) => {
    const key = secrets.derived("signed asset addresses")
    const signature = (assetId: string, expires: number) =>
      createHmac("sha256", key).update(`${assetId}.${expires}`).digest("base64url")

    return {
      of: (assetId: string, now = Date.now()) => {
        const expires = expiryAt(now)
        return `${imagePath(assetId)}?expires=${expires}&signature=${signature(assetId, expires)}`
      },

      isGood: (assetId: string, expires: number, given: string, now = Date.now()) => {
        const expected = Buffer.from(signature(assetId, expires))
        const bytes = Buffer.from(given)
        return expires * 1000 > now && bytes.length === expected.length && timingSafeEqual(bytes, expected)
      }
    }
  })
}) {}
