import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { isInRanges, parseAddress, parseRange } from "../../../layers/infra/config/AddressRange.ts"

/** Providers assign IPv6 in /64 blocks, so all addresses of a block count as one client. */
const addressBlockOf = (text: string) => {
  const address = parseAddress(text)
  if (address === undefined) return text
  return "parts" in address
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address.toString()
}

/** The key that limits count the requests of an address under. */
export const addressKey = (address: string) => `address ${address}`

export const isAddressKey = (key: string) => key.startsWith("address ")

const makeIsProxy = (trustedProxies: ReadonlyArray<string>) => {
  const trusted = trustedProxies.flatMap((text) => parseRange(text) ?? [])
  return (address: string) => isInRanges(address, trusted)
}

/** Finds the address at the other end of a connection, unless it is that of a trusted proxy. */
export const makeDirectAddress = (trustedProxies: ReadonlyArray<string>) => {
  const isProxy = makeIsProxy(trustedProxies)
  return ({ remoteAddress = "" }: Socket) => (isProxy(remoteAddress) ? undefined : addressBlockOf(remoteAddress))
}

/**
 * Finds the client's address: the connection's, or the one in `X-Forwarded-For` if a trusted proxy connects. Proxies
 * append, so the list is read from its end up to the first untrusted address; a client can forge only what precedes it.
 */
export const makeClientAddress = (trustedProxies: ReadonlyArray<string>) => {
  const isProxy = makeIsProxy(trustedProxies)
  return ({ headers, socket }: IncomingMessage) => {
    let address = socket.remoteAddress ?? ""
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",")
    while (isProxy(address)) {
      const previous = forwarded.pop()?.trim()
      if (previous === undefined || parseAddress(previous) === undefined) break
      address = previous
    }
    return addressBlockOf(address)
  }
}
