import { setTimeout as pause } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { maxConnectionsPerOrigin } from "../../../src/layers/webhook/WebhookClient.ts"
import { receiver } from "./receiver.ts"
import { webhooksFor } from "./rig.ts"

describe("many deliveries at once", () => {
  it("use few connections to each receiver, again and again", async () => {
    const crowd = 4 * maxConnectionsPerOrigin
    let [now, most] = [0, 0]
    let fill = () => {}
    const isFull = new Promise<void>((resolve) => {
      fill = resolve
    })
    const { connections, port, received } = await receiver(async (_, response) => {
      most = Math.max(most, ++now)
      if (now === maxConnectionsPerOrigin) fill()
      await isFull
      // Whoever came in spite of all these would be here by then.
      await pause(50)
      now--
      response.end()
    })
    const { send } = webhooksFor({ allow: "127.0.0.0/8" })
    const url = `http://127.0.0.1:${port}/`
    const outcomes = await Promise.all(Array.from({ length: crowd }, (_, n) => send({ url, id: `evt_${n}` })))
    assert.isTrue(outcomes.every(({ delivered }) => delivered))
    assert.lengthOf(received, crowd)
    assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, crowd)
    assert.strictEqual(most, maxConnectionsPerOrigin)
    assert.strictEqual(connections(), maxConnectionsPerOrigin)
  })

  it("to one that does not answer hold up no other, and none that comes after it has come back", async () => {
    let isBack = false
    const { port, received } = await receiver((_, response) => {
      if (isBack) response.end()
    })
    const { send } = webhooksFor({ allow: "127.0.0.0/8" })
    const dead = `http://127.0.0.1:${port}/`
    const waiting = Array.from({ length: maxConnectionsPerOrigin + 42 }, () => send({ url: dead, timeoutMs: 3000 }))
    const other = await receiver()
    const { delivered } = await send({ url: `http://127.0.0.2:${other.port}/` })
    assert.isTrue(delivered)
    const errors = (await Promise.all(waiting)).map(({ error }) => error)
    const tally = (text: string) => errors.filter((error) => error === text).length
    assert.strictEqual(tally("127.0.0.1 did not answer within 3 s"), maxConnectionsPerOrigin)
    assert.strictEqual(tally("Earlier deliveries to 127.0.0.1 take too long"), 42)
    assert.lengthOf(received, maxConnectionsPerOrigin)
    isBack = true
    assert.isTrue((await send({ url: dead })).delivered)
    assert.lengthOf(received, maxConnectionsPerOrigin + 1)
  })
})
