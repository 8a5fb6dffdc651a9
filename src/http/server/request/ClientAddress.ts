import type { IncomingMessage } from "node:http"
import { isWithin, readAddress, readRange } from "../../../layers/config/AddressRange.ts"

/** A network of IPv6 is given out in blocks of 64 bits: each of its addresses is the same client's. */
const blockOf = (text: string) => {
  const address = readAddress(text)
  if (address === undefined) return text
  return "parts" in address
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address.toString()
}

/**
 * Tells which address a request comes from: that of the connection, or the one before it that a trusted proxy names. A
 * client can write anything into `X-Forwarded-For`, but only in front of what the proxies add.
 */
export const makeClientAddress = (trustedProxies: ReadonlyArray<string>) => {
  const trusted = trustedProxies.flatMap((text) => readRange(text) ?? [])
  return ({ headers, socket }: IncomingMessage) => {
    let address = socket.remoteAddress ?? ""
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",")
    while (isWithin(address, trusted)) {
      const before = forwarded.pop()?.trim()
      if (before === undefined || readAddress(before) === undefined) break
      address = before
    }
    return blockOf(address)
  }
}
