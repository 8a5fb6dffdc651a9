import net from "node:net"
import { Effect } from "effect"
import { assert, describe, it, vi } from "vitest"
import { receiver } from "./receiver.ts"
import { countDials, webhooksFor } from "./rig.ts"

const hangUp = { connection: "close" }

describe("what a URL leads to may change after it was registered", () => {
  it("to an inner address, which is noticed when something is sent", async () => {
    const { check, send } = webhooksFor({ names: { "turns.example.com": [["93.184.216.34"], ["127.0.0.1"]] } })
    const url = "https://turns.example.com/hook"
    const dials = countDials()
    assert.isUndefined(await check(url))
    const { delivered, error } = await send({ url })
    assert.isFalse(delivered)
    assert.strictEqual(error, "The URL must lead to public addresses only, and turns.example.com has one that is not")
    assert.strictEqual(dials(), 0)
  })

  it("between two deliveries, though the receiver itself listens there as well", async () => {
    const { connections, port } = await receiver((_, response) => response.writeHead(200, hangUp).end())
    const { check, send } = webhooksFor({
      allow: "127.0.0.1/32",
      names: { "turns.example.com": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"]] }
    })
    const url = `http://turns.example.com:${port}/hook`
    assert.isUndefined(await check(url))
    assert.isTrue((await send({ url })).delivered)
    for (const _ of [1, 2]) assert.match((await send({ url })).error ?? "", /^The URL must start with https:/)
    assert.strictEqual(connections(), 1)
  })

  it("never between the check and the connection: there is one look for both", async () => {
    const { port, received } = await receiver((_, response) => response.writeHead(200, hangUp).end())
    let looks = 0
    const resolve = () => Effect.sync(() => (looks++ % 2 === 0 ? ["127.0.0.1"] : ["127.0.0.2"]))
    const { send } = webhooksFor({ allow: "127.0.0.1/32", resolve })
    const url = `http://turns.example.com:${port}/hook`
    const outcomes = []
    for (const _ of Array(10)) outcomes.push((await send({ url })).delivered)
    assert.deepStrictEqual(outcomes, Array(5).fill([true, false]).flat())
    assert.strictEqual(looks, 10)
    assert.lengthOf(received, 5)
  })

  it("by a redirect, which is not followed", async () => {
    const inner = await receiver()
    for (const status of [300, 301, 302, 303, 304, 307, 308]) {
      const location = `http://127.0.0.2:${inner.port}/`
      const { port } = await receiver((_, response) => response.writeHead(status, { location }).end())
      const { send } = webhooksFor({ allow: "127.0.0.1/32" })
      const outcome = await send({ url: `http://127.0.0.1:${port}/` })
      assert.deepInclude(outcome, { delivered: false, status })
      assert.isUndefined(outcome.stop)
      assert.strictEqual(
        outcome.error,
        `127.0.0.1 answered ${status}, and redirects are not followed: register the URL they lead to`
      )
    }
    assert.strictEqual(inner.connections(), 0)
  })

  it("beneath the connection, whose other end is looked at before anything is sent", async () => {
    const { port, received } = await receiver()
    const { send } = webhooksFor({ allow: "127.0.0.1/32" })
    const connect = net.Socket.prototype.connect
    const spy = vi.spyOn(net.Socket.prototype, "connect").mockImplementation(function (
      this: net.Socket,
      ...to: [string, (() => void)?]
    ) {
      return connect.apply(Object.defineProperty(this, "remoteAddress", { value: "10.0.0.1" }), to)
    })
    const { delivered, error } = await send({ url: `http://127.0.0.1:${port}/` })
    spy.mockRestore()
    assert.isFalse(delivered)
    assert.match(error ?? "", /^The URL must/)
    assert.lengthOf(received, 0)
  })
})
