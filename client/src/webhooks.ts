/** The body of a request as it arrived: a parsed and printed body has other bytes, and so another signature. */
type Body = string | Uint8Array

/** The headers of a request, as `fetch` or `node:http` hold them. */
type RequestHeaders = Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export interface ReceivedWebhook {
  readonly body: Body
  readonly headers: RequestHeaders
  /** The secret of the integration, or several of them while it rotates. */
  readonly secret: string | ReadonlyArray<string>
  /** Greatest difference between the clocks of sender and receiver. Default 300. */
  readonly toleranceSeconds?: number
}

/** The request is not from the service, or too old. Answer it with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
}

const encoder = new TextEncoder()

const toBytes = (body: Body) => (typeof body === "string" ? encoder.encode(body) : body)

const fromBase64 = (text: string) => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const toBase64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes)))

const importKey = (secret: string) => {
  const bytes = fromBase64(secret.replace(/^whsec_/, ""))
  if (bytes === undefined) throw new TypeError("The secret of a webhook starts with whsec_, followed by base64")
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"])
}

/** What the signature covers. */
const signedBytes = (id: string, timestamp: string, body: Body) => {
  const [prefix, content] = [encoder.encode(`${id}.${timestamp}.`), toBytes(body)]
  const bytes = new Uint8Array(prefix.length + content.length)
  bytes.set(prefix)
  bytes.set(content, prefix.length)
  return bytes
}

const headerOf = (headers: RequestHeaders, name: string) => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value === "string") return value
  throw new WebhookVerificationError(`The request has no header ${name}`)
}

const requireRecent = (timestamp: string, toleranceSeconds: number) => {
  const age = Date.now() / 1000 - Number(timestamp)
  if (!(Math.abs(age) <= toleranceSeconds))
    throw new WebhookVerificationError(`The timestamp of the webhook is off by more than ${toleranceSeconds} s`)
}

const isSigned = async (signatures: string, secret: string, content: Uint8Array<ArrayBuffer>) => {
  const key = await importKey(secret)
  for (const signature of signatures.split(" ")) {
    const [version, text = ""] = signature.split(",")
    const bytes = version === "v1" ? fromBase64(text) : undefined
    // Web Crypto compares in constant time.
    if (bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, content))) return true
  }
  return false
}

/** Returns the parsed body of a webhook that the service signed. Fails with a `WebhookVerificationError` otherwise. */
export const verifySignature = async (webhook: ReceivedWebhook): Promise<unknown> => {
  const { body, headers, secret, toleranceSeconds = 300 } = webhook
  const [id, timestamp, signatures] = [
    headerOf(headers, "webhook-id"),
    headerOf(headers, "webhook-timestamp"),
    headerOf(headers, "webhook-signature")
  ]
  requireRecent(timestamp, toleranceSeconds)
  const content = signedBytes(id, timestamp, body)
  for (const one of typeof secret === "string" ? [secret] : secret) {
    if (await isSigned(signatures, one, content))
      return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body))
  }
  throw new WebhookVerificationError("No signature of the webhook was made with this secret")
}

export interface WebhookToSign {
  /** The id of the event. */
  readonly id: string
  readonly body: Body
  readonly secret: string
  readonly timestamp?: Date
}

/** The headers with which the service would send a body: for tests of a receiver. */
export const signWebhook = async ({ body, id, secret, timestamp = new Date() }: WebhookToSign) => {
  const seconds = String(Math.floor(timestamp.getTime() / 1000))
  const signature = await crypto.subtle.sign("HMAC", await importKey(secret), signedBytes(id, seconds, body))
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${toBase64(signature)}`
  }
}
