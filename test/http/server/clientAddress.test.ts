import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { makeClientAddress } from "../../../src/http/server/request/ClientAddress.ts"

/** A request over a connection from an address, which a test cannot open from everywhere. */
const requestFrom = (remoteAddress: string | undefined, forwarded?: string) => {
  const request = new IncomingMessage(Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress }))
  if (forwarded !== undefined) request.headers["x-forwarded-for"] = forwarded
  return request
}

const addressOf = (trusted: ReadonlyArray<string>, ...request: Parameters<typeof requestFrom>) =>
  makeClientAddress(trusted)(requestFrom(...request))

const proxies = ["10.0.0.0/8", "fd00::/8"]

/** Addresses that are no proxy's. */
const outside = fc.ipV4().filter((address) => !address.startsWith("10."))
const proxy = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => `10.${parts.join(".")}`)
/** What a client can write: the separator makes more entries of it. */
const written = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom("", "unknown", "10.0.0.1, 10.0.0.2", "a b", "_hidden"))
const separator = fc.constantFrom(",", ", ", " ,  ")

describe("the address a request comes from", () => {
  it("is the connection's while no proxy is trusted, whatever the request says", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.array(written), (address, entries) => {
        assert.strictEqual(addressOf([], address, entries.join(", ")), address)
      })
    )
  })

  it("is the connection's when that is no proxy's, however many proxies are trusted", () => {
    fc.assert(
      fc.property(outside, fc.array(written), (address, entries) => {
        assert.strictEqual(addressOf(proxies, address, entries.join(", ")), address)
      })
    )
  })

  it("is what the first trusted proxy names, and nothing that a client wrote before it", () => {
    fc.assert(
      fc.property(
        fc.array(written),
        outside,
        fc.array(proxy),
        proxy,
        separator,
        (spoofed, client, way, last, comma) => {
          assert.strictEqual(addressOf(proxies, last, [...spoofed, client, ...way].join(comma)), client)
        }
      )
    )
  })

  it("is the last that is known where a proxy names none", () => {
    assert.strictEqual(addressOf(proxies, "10.0.0.1"), "10.0.0.1")
    assert.strictEqual(addressOf(proxies, "10.0.0.1", ""), "10.0.0.1")
    for (const garbage of [
      "unknown",
      "198.51.100",
      "198.51.100.7:4711",
      "[2001:db8::1]",
      "fe80::1%eth0 x",
      "_hidden"
    ]) {
      assert.strictEqual(addressOf(proxies, "10.0.0.1", `198.51.100.7, ${garbage}`), "10.0.0.1", garbage)
      assert.strictEqual(addressOf(proxies, "10.0.0.1", `198.51.100.7, ${garbage}, 10.0.0.2`), "10.0.0.2", garbage)
    }
  })

  it("is a proxy's own where all that are named are proxies", () => {
    assert.strictEqual(addressOf(proxies, "10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3")
  })

  it("is the same for all addresses of one block of IPv6, and another for the next block", () => {
    const block = "2001:db8:1:2::/64"
    for (const address of ["2001:db8:1:2::", "2001:db8:1:2::1", "2001:0DB8:1:2:ffff:ffff:ffff:ffff"]) {
      assert.strictEqual(addressOf([], address), block)
      assert.strictEqual(addressOf(proxies, "10.0.0.1", address), block)
      assert.strictEqual(addressOf(proxies, "fd00::1", address), block)
    }
    assert.strictEqual(addressOf([], "2001:db8:1:3::1"), "2001:db8:1:3::/64")
  })

  it("is IPv4 where it is written as IPv4 in IPv6", () => {
    assert.strictEqual(addressOf([], "::ffff:198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(proxies, "::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(proxies, "10.0.0.1", "::ffff:198.51.100.7"), "198.51.100.7")
    assert.strictEqual(addressOf(proxies, "10.0.0.1", "198.51.100.7, ::ffff:10.0.0.2"), "198.51.100.7")
  })

  it("is nothing where the connection is gone already", () => {
    assert.strictEqual(addressOf(proxies, undefined, "198.51.100.7"), "")
  })
})
