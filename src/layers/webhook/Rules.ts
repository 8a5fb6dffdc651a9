import { isIP } from "node:net"
import { Data, Either } from "effect"
import { readAddress } from "../config/AddressRange.ts"

/** Why nothing is sent to a URL. The fault goes on from "The URL". */
export class Refused extends Data.TaggedError("Refused")<{ readonly fault: string }> {
  override get message() {
    return `The URL ${this.fault}`
  }
}

/** Where a URL leads, as both it and a connection to be made tell it. */
export interface Destination {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

export const hostOf = ({ hostname }: Destination) => hostname.replace(/^\[|\]$/g, "")

/** Addresses of IPv6 outside of 2000::/3 were never given to anyone, though not all of them have a name. */
export const isPublic = (text: string) => {
  const address = readAddress(text)
  if (address?.range() !== "unicast") return false
  return !("parts" in address) || ((address.parts[0] ?? 0) & 0xe000) === 0x2000
}

const ports = new Set(["", "443", "8443"])

/** What only addresses that were expressly allowed may be used with. */
export const unusual = ({ port, protocol }: Destination) => {
  if (protocol !== "https:") return "must start with https:// since what is sent is confidential"
  return ports.has(port) ? undefined : `must use port 443 or 8443, not ${port}`
}

const isInner = (host: string) => /(^|\.)(localhost|local|internal)$/.test(host) || !host.includes(".")

const faultOfHost = (host: string) => {
  if (isIP(host) !== 0) return undefined
  if (host.endsWith(".")) return "must not have a dot at the end of its host: leave it out"
  return isInner(host) ? `must have a public host such as hooks.example.com, which ${host} is not` : undefined
}

const faultOf = (url: URL) => {
  if (!/^https?:$/.test(url.protocol)) return "must start with https://"
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password: check the signature to know who sends"
  }
  return faultOfHost(hostOf(url))
}

/** A URL that keeps every rule for which nobody needs to know an address. */
export const readUrl = (text: string): Either.Either<URL, Refused> => {
  if (!URL.canParse(text)) {
    return Either.left(new Refused({ fault: "must be complete, such as https://hooks.example.com/incoming" }))
  }
  const url = new URL(text)
  const fault = faultOf(url)
  return fault === undefined ? Either.right(url) : Either.left(new Refused({ fault }))
}
