import { isIP } from "node:net"
import { Data, Either } from "effect"
import { parseAddress } from "../config/AddressRange.ts"

/** The policy rejects a URL. The reason completes a sentence that starts with "The URL". */
export class UrlRejected extends Data.TaggedError("UrlRejected")<{ readonly reason: string }> {
  override get message() {
    return `The URL ${this.reason}`
  }
}

/** The fields that a `URL` and undici's connect options share. */
export interface Destination {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

export const hostOf = ({ hostname }: Destination) => hostname.replace(/^\[|\]$/g, "")

/** IPv6 outside of 2000::/3 is not global unicast, even where ipaddr.js knows no special range. */
export const isPublicAddress = (text: string) => {
  const address = parseAddress(text)
  if (address?.range() !== "unicast") return false
  return !("parts" in address) || ((address.parts[0] ?? 0) & 0xe000) === 0x2000
}

const allowedPorts = new Set(["", "443", "8443"])

/** The error of a protocol or port that only addresses in `DELIVERY_ALLOW` may use. */
export const findProtocolOrPortError = ({ port, protocol }: Destination) => {
  if (protocol !== "https:") return "must start with https:// since what is sent is confidential"
  return allowedPorts.has(port) ? undefined : `must use port 443 or 8443, not ${port}`
}

const isInternalName = (host: string) => /(^|\.)(localhost|local|internal)$/.test(host) || !host.includes(".")

const findHostError = (host: string) => {
  if (isIP(host) !== 0) return undefined
  if (host.endsWith(".")) return "must not have a dot at the end of its host: leave it out"
  return isInternalName(host) ? `must have a public host such as hooks.example.com, which ${host} is not` : undefined
}

const findUrlError = (url: URL) => {
  if (!/^https?:$/.test(url.protocol)) return "must start with https://"
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password: check the signature to know who sends"
  }
  return findHostError(hostOf(url))
}

/** Parses a URL and checks every rule that needs no DNS lookup. */
export const parseWebhookUrl = (text: string): Either.Either<URL, UrlRejected> => {
  if (!URL.canParse(text)) {
    return Either.left(new UrlRejected({ reason: "must be complete, such as https://hooks.example.com/incoming" }))
  }
  const url = new URL(text)
  const reason = findUrlError(url)
  return reason === undefined ? Either.right(url) : Either.left(new UrlRejected({ reason }))
}
