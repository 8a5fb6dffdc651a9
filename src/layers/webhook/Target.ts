import { isIP } from "node:net"
import { Effect, Either } from "effect"
import { breaks } from "../../domain/Errors.ts"
import { isWithin, readRange } from "../config/AddressRange.ts"
import { Settings } from "../config/Settings.ts"
import { Resolver } from "./Resolver.ts"
import { type Destination, hostOf, isPublic, Refused, readUrl, unusual } from "./Rules.ts"

const faultOfNone = (host: string) => `must have a host that can be found: no address is known for ${host}`

const faultOfInner = (host: string) =>
  isIP(host) === 0
    ? `must lead to public addresses only, and ${host} has one that is not`
    : `must lead to a public address, which ${host} is not`

const make = Effect.gen(function* () {
  const { DELIVERY_ALLOW } = yield* Settings
  const allowed = DELIVERY_ALLOW.flatMap((text) => readRange(text) ?? [])
  const resolve = yield* Resolver

  /** One address that may not be used is enough: which of them a connection takes is a matter of luck. */
  const faultAt = (at: Destination, addresses: ReadonlyArray<string>) => {
    if (addresses.length === 0) return faultOfNone(hostOf(at))
    const others = addresses.filter((address) => !isWithin(address, allowed))
    if (others.length === 0) return undefined
    return unusual(at) ?? (others.every(isPublic) ? undefined : faultOfInner(hostOf(at)))
  }

  const vouch = (at: Destination, addresses: ReadonlyArray<string>) => {
    const fault = faultAt(at, addresses)
    return fault === undefined ? Either.right(addresses) : Either.left(new Refused({ fault }))
  }

  /** Everything that can be said of a URL without asking for the addresses of a name. */
  const read = (text: string) =>
    Either.flatMap(readUrl(text), (url) => {
      const host = hostOf(url)
      if (isIP(host) !== 0) return Either.map(vouch(url, [host]), () => url)
      const fault = allowed.length === 0 ? unusual(url) : undefined
      return fault === undefined ? Either.right(url) : Either.left(new Refused({ fault }))
    })

  /** The addresses to connect to, each of them checked. A literal is checked as well, since nobody looks it up. */
  const locate = (at: Destination) => {
    const host = hostOf(at)
    return isIP(host) === 0 ? Effect.flatMap(resolve(host), (found) => vouch(at, found)) : vouch(at, [host])
  }

  return {
    /** Whether a URL may be registered now; it is checked again whenever something is sent there. */
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

/** Where webhooks may be sent: to public places, over TLS, and to what the settings allow besides. */
export class Targets extends Effect.Service<Targets>()("layers/Targets", { effect: make }) {}
