import { assert, describe, it } from "vitest"
import { maxConnectionsPerOrigin } from "../../../../src/layers/infra/webhook/WebhookClient.ts"
import { startReceiver } from "./receiver.ts"
import { useWebhookClient } from "./webhookClient.ts"

describe("Concurrent webhook deliveries", () => {
  it("reuse a limited number of connections to each receiver", async () => {
    const deliveryCount = 4 * maxConnectionsPerOrigin
    let [current, max] = [0, 0]
    let release = () => {}
    const isFull = new Promise<void>((resolve) => {
      release = resolve
    })
    const { connections, port, received } = await startReceiver(async (_, response) => {
      max = Math.max(max, ++current)
      if (current === maxConnectionsPerOrigin) release()
      await isFull
      current--
      response.end()
    })
    const { send } = useWebhookClient({ allow: "127.0.0.0/8" })
    const url = `http://127.0.0.1:${port}/`
    const results = await Promise.all(Array.from({ length: deliveryCount }, (_, n) => send({ url, id: `evt_${n}` })))
    assert.isTrue(results.every(({ delivered }) => delivered))
    assert.lengthOf(received, deliveryCount)
    assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, deliveryCount)
    assert.strictEqual(max, maxConnectionsPerOrigin)
    assert.strictEqual(connections(), maxConnectionsPerOrigin)
  })

  it("to a silent receiver block neither other receivers nor later deliveries after its recovery", async () => {
    let isResponding = false
    const { port, received } = await startReceiver((_, response) => {
      if (isResponding) response.end()
    })
    const { send } = useWebhookClient({ allow: "127.0.0.0/8" })
    const silentUrl = `http://127.0.0.1:${port}/`
    const pending = Array.from({ length: maxConnectionsPerOrigin + 42 }, () =>
      send({ url: silentUrl, timeoutMs: 3000 })
    )
    const other = await startReceiver()
    const { delivered } = await send({ url: `http://127.0.0.2:${other.port}/` })
    assert.isTrue(delivered)
    const errors = (await Promise.all(pending)).map(({ error }) => error)
    const countErrors = (text: string) => errors.filter((error) => error === text).length
    assert.strictEqual(countErrors("127.0.0.1 did not answer within 3 s"), maxConnectionsPerOrigin)
    assert.strictEqual(countErrors("Earlier deliveries to 127.0.0.1 take too long"), 42)
    assert.lengthOf(received, maxConnectionsPerOrigin)
    isResponding = true
    assert.isTrue((await send({ url: silentUrl })).delivered)
    assert.lengthOf(received, maxConnectionsPerOrigin + 1)
  })
})
