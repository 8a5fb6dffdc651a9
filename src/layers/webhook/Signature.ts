import { createHmac, randomBytes } from "node:crypto"

const mark = "whsec_"

/** A secret shared with one receiver, as Standard Webhooks writes them. */
export const newSecret = () => `${mark}${randomBytes(32).toString("base64")}`

const keyOf = (secret: string) => Buffer.from(secret.slice(mark.length), "base64")

const sign = (secret: string, signed: string, body: Uint8Array) =>
  `v1,${createHmac("sha256", keyOf(secret)).update(signed).update(body).digest("base64")}`

/** The headers of Standard Webhooks: one signature for each secret, of which a receiver needs to know only one. */
export const signatureHeaders = (
  id: string,
  now: number,
  body: Uint8Array,
  secrets: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const seconds = Math.floor(now / 1000)
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((secret) => sign(secret, `${id}.${seconds}.`, body)).join(" ")
  }
}
