import { createHmac, randomBytes } from "node:crypto"

const secretPrefix = "whsec_"

/** Generates a signing secret in the format of Standard Webhooks. */
export const generateSigningSecret = () => `${secretPrefix}${randomBytes(32).toString("base64")}`

const keyOf = (secret: string) => Buffer.from(secret.slice(secretPrefix.length), "base64")

const sign = (secret: string, signedPrefix: string, body: Uint8Array) =>
  `v1,${createHmac("sha256", keyOf(secret)).update(signedPrefix).update(body).digest("base64")}`

/** The headers of Standard Webhooks. They carry one signature per secret, so that secrets can rotate. */
export const buildSignatureHeaders = (
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
