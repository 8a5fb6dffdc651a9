import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { makeClientAddress } from "../../../src/http/server/request/ClientAddress.ts"

/** A request whose socket has the given remote address. */
const requestFrom = (remoteAddress: string | undefined, forwarded?: string) => {
  const request = new IncomingMessage(Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress }))
  if (forwarded !== undefined) request.headers["x-forwarded-for"] = forwarded
  return request
}

const addressOf = (trusted: ReadonlyArray<string>, ...request: Parameters<typeof requestFrom>) =>
  makeClientAddress(trusted)(requestFrom(...request))

const trustedRanges = ["10.0.0.0/8", "fd00::/8"]

/** Addresses outside the trusted ranges. */
const untrusted = fc.ipV4().filter((address) => !address.startsWith("10."))
const trustedProxy = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => `10.${parts.join(".")}`)
/** Forwarded entries a client can forge; one with a comma counts as several. */
const forgedEntry = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom("", "unknown", "10.0.0.1, 10.0.0.2", "a b", "_hidden")
)
const separator = fc.constantFrom(",", ", ", " ,  ")

describe("makeClientAddress", () => {
  it("returns the address of the connection while no proxy is trusted, whatever X-Forwarded-For says", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.array(forgedEntry), (address, entries) => {
        assert.strictEqual(addressOf([], address, entries.join(", ")), address)
      })
    )
  })

  it("returns the address of the connection when that is not a trusted proxy", () => {
    fc.assert(
      fc.property(untrusted, fc.array(forgedEntry), (address, entries) => {
        assert.strictEqual(addressOf(trustedRanges, address, entries.join(", ")), address)
      })
    )
  })

  it("returns the address that the first trusted proxy appended and ignores entries before it", () => {
    fc.assert(
      fc.property(
        fc.array(forgedEntry),
        untrusted,
        fc.array(trustedProxy),
        trustedProxy,
        separator,
        (forged, client, hops, last, comma) => {
          assert.strictEqual(addressOf(trustedRanges, last, [...forged, client, ...hops].join(comma)), client)
        }
      )
    )
  })

  it("returns the last trusted proxy when the entry before it is missing or invalid", () => {
    assert.strictEqual(addressOf(trustedRanges, "10.0.0.1"), "10.0.0.1")
    assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", ""), "10.0.0.1")
    for (const garbage of [
      "unknown",
      "198.51.100",
      "198.51.100.7:4711",
      "[2001:db8::1]",
      "fe80::1%eth0 x",
      "_hidden"
    ]) {
      assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", `198.51.100.7, ${garbage}`), "10.0.0.1", garbage)
      assert.strictEqual(
        addressOf(trustedRanges, "10.0.0.1", `198.51.100.7, ${garbage}, 10.0.0.2`),
        "10.0.0.2",
        garbage
      )
    }
  })

  it("returns the first entry when all entries are trusted proxies", () => {
    assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3")
  })

  it("returns the /64 block of an IPv6 address", () => {
    const block = "2001:db8:1:2::/64"
    for (const address of ["2001:db8:1:2::", "2001:db8:1:2::1", "2001:0DB8:1:2:ffff:ffff:ffff:ffff"]) {
      assert.strictEqual(addressOf([], address), block)
      assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", address), block)
      assert.strictEqual(addressOf(trustedRanges, "fd00::1", address), block)
    }
    assert.strictEqual(addressOf([], "2001:db8:1:3::1"), "2001:db8:1:3::/64")
  })

  it("returns the IPv4 address of an IPv4-mapped IPv6 address", () => {
    assert.strictEqual(addressOf([], "::ffff:198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(trustedRanges, "::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", "::ffff:198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(trustedRanges, "10.0.0.1", "198.51.100.7, ::ffff:10.0.0.2"), "198.51.100.7")
  })

  it("returns an empty string when the connection is closed already", () => {
    assert.strictEqual(addressOf(trustedRanges, undefined, "198.51.100.7"), "")
  })
})
