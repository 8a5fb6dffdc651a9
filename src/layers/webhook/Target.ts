import { isIP } from "node:net"
import { Effect, Either } from "effect"
import { breaks } from "../../domain/Errors.ts"
import { isWithin, readRange } from "../config/AddressRange.ts"
import { Settings } from "../config/Settings.ts"
import { Resolver } from "./Resolver.ts"
import { type Destination, hostOf, isPublic, Refused, readUrl, unusual } from "./Rules.ts"

const unresolvedHostError = (host: string) => `must have a host that can be found: no address is known for ${host}`

const privateAddressError = (host: string) =>
  isIP(host) === 0
    ? `must lead to public addresses only, and ${host} has one that is not`
    : `must lead to a public address, which ${host} is not`

const make = Effect.gen(function* () {
  const { DELIVERY_ALLOW } = yield* Settings
  const allowedRanges = DELIVERY_ALLOW.flatMap((text) => readRange(text) ?? [])
  const resolve = yield* Resolver

  /** One forbidden address is enough to reject: a connection may use any of them. */
  const findAddressError = (destination: Destination, addresses: ReadonlyArray<string>) => {
    if (addresses.length === 0) return unresolvedHostError(hostOf(destination))
    const notAllowlisted = addresses.filter((address) => !isWithin(address, allowedRanges))
    if (notAllowlisted.length === 0) return undefined
    return (
      unusual(destination) ?? (notAllowlisted.every(isPublic) ? undefined : privateAddressError(hostOf(destination)))
    )
  }

  const vouch = (destination: Destination, addresses: ReadonlyArray<string>) => {
    const reason = findAddressError(destination, addresses)
    return reason === undefined ? Either.right(addresses) : Either.left(new Refused({ fault: reason }))
  }

  /** Parses a URL and checks everything that needs no DNS lookup. */
  const read = (text: string) =>
    Either.flatMap(readUrl(text), (url) => {
      const host = hostOf(url)
      if (isIP(host) !== 0) return Either.map(vouch(url, [host]), () => url)
      const reason = allowedRanges.length === 0 ? unusual(url) : undefined
      return reason === undefined ? Either.right(url) : Either.left(new Refused({ fault: reason }))
    })

  /** Resolves a host to checked addresses. An IP literal skips DNS and is checked too. */
  const locate = (destination: Destination) => {
    const host = hostOf(destination)
    return isIP(host) === 0
      ? Effect.flatMap(resolve(host), (found) => vouch(destination, found))
      : vouch(destination, [host])
  }

  return {
    /** Fails unless a URL is allowed at registration. Every connection repeats the check. */
    check: (url: string) =>
      Effect.flatMap(read(url), locate).pipe(
        Effect.mapError(({ fault }) => breaks("config.url", "format", fault)),
        Effect.asVoid
      ),
    read,
    locate,
    vouch
  }
})

/** Restricts webhooks to public addresses over TLS, and to the ranges in `DELIVERY_ALLOW`. */
export class Targets extends Effect.Service<Targets>()("layers/SsrfGuard", { effect: make }) {}
