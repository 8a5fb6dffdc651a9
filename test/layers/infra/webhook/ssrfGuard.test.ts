import net from "node:net"
import { Effect } from "effect"
import { assert, describe, it, vi } from "vitest"
import { startReceiver } from "./receiver.ts"
import { countConnectionAttempts, useWebhookClient } from "./webhookClient.ts"

const closing = { connection: "close" }

describe("A webhook delivery", () => {
  it("is rejected if the host resolves to a private address after its registration", async () => {
    const { check, send } = useWebhookClient({ names: { "changing.example.com": [["93.184.216.34"], ["127.0.0.1"]] } })
    const url = "https://changing.example.com/hook"
    const connectionAttempts = countConnectionAttempts()
    assert.isUndefined(await check(url))
    const { delivered, error } = await send({ url })
    assert.isFalse(delivered)
    assert.strictEqual(
      error,
      "The URL must lead to public addresses only, but changing.example.com has one that is not"
    )
    assert.strictEqual(connectionAttempts(), 0)
  })

  it("is rejected if the host resolves to another address than the allowed one between two deliveries", async () => {
    const { connections, port } = await startReceiver((_, response) => response.writeHead(200, closing).end())
    const { check, send } = useWebhookClient({
      allow: "127.0.0.1/32",
      names: { "changing.example.com": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"]] }
    })
    const url = `http://changing.example.com:${port}/hook`
    assert.isUndefined(await check(url))
    assert.isTrue((await send({ url })).delivered)
    for (const _ of [1, 2]) assert.match((await send({ url })).error ?? "", /^The URL must start with https:/)
    assert.strictEqual(connections(), 1)
  })

  it("resolves its host once for the check and the connection", async () => {
    const { port, received } = await startReceiver((_, response) => response.writeHead(200, closing).end())
    let lookups = 0
    const resolve = () => Effect.sync(() => (lookups++ % 2 === 0 ? ["127.0.0.1"] : ["127.0.0.2"]))
    const { send } = useWebhookClient({ allow: "127.0.0.1/32", resolve })
    const url = `http://changing.example.com:${port}/hook`
    const results = []
    for (const _ of Array(10)) results.push((await send({ url })).delivered)
    assert.deepStrictEqual(results, Array(5).fill([true, false]).flat())
    assert.strictEqual(lookups, 10)
    assert.lengthOf(received, 5)
  })

  it("does not follow redirects", async () => {
    const inner = await startReceiver()
    for (const status of [300, 301, 302, 303, 304, 307, 308]) {
      const location = `http://127.0.0.2:${inner.port}/`
      const { port } = await startReceiver((_, response) => response.writeHead(status, { location }).end())
      const { send } = useWebhookClient({ allow: "127.0.0.1/32" })
      const result = await send({ url: `http://127.0.0.1:${port}/` })
      assert.deepInclude(result, { delivered: false, status })
      assert.isUndefined(result.stop)
      assert.strictEqual(
        result.error,
        `127.0.0.1 answered ${status}, and redirects are not followed: register the URL they lead to`
      )
    }
    assert.strictEqual(inner.connections(), 0)
  })

  it("checks the remote address of the connection before it sends", async () => {
    const { port, received } = await startReceiver()
    const { send } = useWebhookClient({ allow: "127.0.0.1/32" })
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
