import { isIP } from "node:net"
import { Effect, Either } from "effect"
import { fieldError } from "../../domain/Errors.ts"
import { isInRanges, parseRange } from "../config/AddressRange.ts"
import { Settings } from "../config/Settings.ts"
import { Resolver } from "./Resolver.ts"
import {
  type Destination,
  findProtocolOrPortError,
  hostOf,
  isPublicAddress,
  parseWebhookUrl,
  UrlRejected
} from "./UrlPolicy.ts"

const unresolvedHostError = (host: string) => `must have a host that can be found: no address is known for ${host}`

const privateAddressError = (host: string) =>
  isIP(host) === 0
    ? `must lead to public addresses only, and ${host} has one that is not`
    : `must lead to a public address, which ${host} is not`

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
    checkAddresses
  }
})

/** Restricts webhooks to public addresses over TLS, and to the ranges in `DELIVERY_ALLOW`. */
export class SsrfGuard extends Effect.Service<SsrfGuard>()("layers/SsrfGuard", { effect: makeSsrfGuard }) {}
