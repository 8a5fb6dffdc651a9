import { Resolver as Dns } from "node:dns/promises"
import { isIP } from "node:net"
import { Context, Data, Effect, Either } from "effect"
import { fieldError } from "../../../domain/Errors.ts"
import { shorten } from "../../../domain/RejectedValue.ts"
import { isInRanges, parseAddress, parseRange } from "../config/AddressRange.ts"
import { Settings } from "../config/Settings.ts"

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

/** The ports of public hosts, by protocol. An empty one is the default of the protocol. */
const allowedPorts: Readonly<Record<string, ReadonlyArray<string>>> = {
  "https:": ["443", "8443", ""],
  "smtps:": ["25", "465", "587", "2525"]
}

/** The error of a protocol or port that only addresses in `DELIVERY_ALLOW` may use. */
export const findProtocolOrPortError = ({ port, protocol }: Destination) => {
  const ports = allowedPorts[protocol]
  if (ports === undefined)
    return "must start with https://, because deliveries are confidential; DELIVERY_ALLOW makes exceptions"
  return ports.includes(port)
    ? undefined
    : `must use port ${ports.filter((allowed) => allowed !== "").join(" or ")}, not ${port}`
}

const isInternalName = (host: string) => /(^|\.)(localhost|local|internal)$/.test(host) || !host.includes(".")

export const findHostError = (host: string) => {
  if (isIP(host) !== 0) return undefined
  if (host.endsWith(".")) return "must not have a dot at the end of its host"
  return isInternalName(host) ? `must have a public host such as hooks.example.com, but is ${shorten(host)}` : undefined
}

const findUrlError = (url: URL) => {
  if (!/^https?:$/.test(url.protocol)) return "must start with https://"
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password; verify the signature of deliveries instead"
  }
  return findHostError(hostOf(url))
}

/** Parses a URL and checks every rule that needs no DNS lookup. */
export const parseWebhookUrl = (text: string): Either.Either<URL, UrlRejected> => {
  if (!URL.canParse(text)) {
    return Either.left(new UrlRejected({ reason: "must be a complete URL such as https://hooks.example.com/incoming" }))
  }
  const url = new URL(text)
  const reason = findUrlError(url)
  return reason === undefined ? Either.right(url) : Either.left(new UrlRejected({ reason }))
}

const dns = new Dns({ timeout: 1_500, tries: 2 })

/** Treats a failed lookup as no addresses: the author of the URL cannot act on the cause. */
const orNone = (lookup: Promise<Array<string>>) => lookup.catch((): Array<string> => [])

/**
 * Queries the name servers directly. `dns.lookup` would also read the hosts file, and it runs in libuv's pool of four
 * threads: a few slow names would block all other lookups.
 */
export const resolveByDns = (name: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(() => Promise.all([orNone(dns.resolve4(name)), orNone(dns.resolve6(name))])).pipe(
    Effect.map((families) => families.flat()),
    Effect.timeoutTo({ duration: "4 seconds", onSuccess: (found) => found, onTimeout: () => [] })
  )

/** Resolves a host name to its current addresses. */
export class Resolver extends Context.Reference<Resolver>()("layers/webhook/Resolver", {
  defaultValue: () => resolveByDns
}) {}

const unresolvedHostError = (host: string) => `must have a host that resolves: DNS has no address for ${shorten(host)}`

const privateAddressError = (host: string) =>
  isIP(host) === 0
    ? `must lead to public addresses only, but ${shorten(host)} has one that is not`
    : `must lead to a public address, but ${host} is not one`

const makeSsrfGuard = Effect.gen(function* () {
  const { DELIVERY_ALLOW } = yield* Settings
  const allowedRanges = DELIVERY_ALLOW.flatMap((text) => parseRange(text) ?? [])
  const resolve = yield* Resolver

  /** One forbidden address is enough to reject: a connection may use any of them. */
  const findAddressError = (destination: Destination, addresses: ReadonlyArray<string>) => {
    if (addresses.length === 0) return unresolvedHostError(hostOf(destination))
    const notAllowlisted = addresses.filter((address) => !isInRanges(address, allowedRanges))
    if (notAllowlisted.length === 0) return undefined
    return (
      findProtocolOrPortError(destination) ??
      (notAllowlisted.every(isPublicAddress) ? undefined : privateAddressError(hostOf(destination)))
    )
  }

  const checkAddresses = (destination: Destination, addresses: ReadonlyArray<string>) => {
    const reason = findAddressError(destination, addresses)
    return reason === undefined ? Either.right(addresses) : Either.left(new UrlRejected({ reason }))
  }

  /** Parses a URL and checks everything that needs no DNS lookup. */
  const parseUrl = (text: string) =>
    Either.flatMap(parseWebhookUrl(text), (url) => {
      const host = hostOf(url)
      if (isIP(host) !== 0) return Either.map(checkAddresses(url, [host]), () => url)
      const reason = allowedRanges.length === 0 ? findProtocolOrPortError(url) : undefined
      return reason === undefined ? Either.right(url) : Either.left(new UrlRejected({ reason }))
    })

  /** Resolves a host to checked addresses. An IP literal skips DNS and is checked too. */
  const resolveAllowed = (destination: Destination) => {
    const host = hostOf(destination)
    return isIP(host) === 0
      ? Effect.flatMap(resolve(host), (found) => checkAddresses(destination, found))
      : checkAddresses(destination, [host])
  }

  return {
    /** Fails unless a URL is allowed at registration. Every connection repeats the check. */
    requireAllowedUrl: (url: string) =>
      Effect.flatMap(parseUrl(url), resolveAllowed).pipe(
        Effect.mapError(({ reason }) => fieldError("config.url", "format", reason)),
        Effect.asVoid
      ),
    parseUrl,
    resolveAllowed,
    checkAddresses,
    /** Whether the operator has listed an address in `DELIVERY_ALLOW`. */
    isAllowlisted: (address: string) => isInRanges(address, allowedRanges)
  }
})

/** Restricts webhooks to public addresses over TLS, and to the ranges in `DELIVERY_ALLOW`. */
export class SsrfGuard extends Effect.Service<SsrfGuard>()("layers/SsrfGuard", { effect: makeSsrfGuard }) {}
