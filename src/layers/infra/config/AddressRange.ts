import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** A CIDR range such as 10.0.0.0/8. */
export interface AddressRange {
  readonly base: ipaddr.IPv4 | ipaddr.IPv6
  readonly bits: number
}

/** Accepts complete addresses only: ipaddr.js alone reads 10/8 as 0.0.0.10/8. */
export const parseRange = (text: string): AddressRange | undefined => {
  const [base = "", bits = "", ...rest] = text.split("/")
  const maxBits = { 4: 32, 6: 128 }[isIP(base)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits
    ? { base: ipaddr.parse(base), bits: Number(bits) }
    : undefined
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export const parseAddress = (text: string) => (isIP(text) === 0 ? undefined : ipaddr.process(text))

export const isInRanges = (text: string, ranges: ReadonlyArray<AddressRange>) => {
  const address = parseAddress(text)
  return (
    address !== undefined &&
    ranges.some(({ base, bits }) => address.kind() === base.kind() && address.match(base, bits))
  )
}
