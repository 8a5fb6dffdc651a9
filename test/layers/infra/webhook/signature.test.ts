import { randomBytes } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { assert, describe, it } from "vitest"
import { buildSignatureHeaders, generateSigningSecret } from "../../../../src/layers/infra/webhook/WebhookSender.ts"
import { startReceiver } from "./receiver.ts"
import { useWebhookClient } from "./webhookClient.ts"

const verify = (secret: string, body: Buffer, headers: Readonly<Record<string, string>>) =>
  new Webhook(secret).verify(body, { ...headers })

const body = Buffer.from(JSON.stringify({ type: "client.created", data: { name: "Zoë & Søn ☂" } }))

describe("The signature of a webhook", () => {
  const [newer, older] = [generateSigningSecret(), generateSigningSecret()]

  it("matches the example of the Standard Webhooks specification", () => {
    const example = Buffer.from('{"test": 2432232314}')
    const headers = buildSignatureHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_999, example, [
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    ])
    assert.deepStrictEqual(headers, {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    })
  })

  it.each([
    ["one secret", [newer], newer],
    ["two secrets, verified with the newer one,", [newer, older], newer],
    ["two secrets, verified with the older one,", [newer, older], older]
  ])("with %s is accepted by the standardwebhooks package", (_, secrets, secret) => {
    const headers = buildSignatureHeaders("evt_1", Date.now(), body, secrets)
    assert.deepStrictEqual(verify(secret, body, headers), JSON.parse(body.toString()))
    assert.strictEqual(headers["webhook-signature"]?.split(" ").length, secrets.length)
  })

  it("has the newest secret first", () => {
    const both = buildSignatureHeaders("evt_1", 1_000, body, [newer, older])["webhook-signature"]
    const alone = [newer, older].map(
      (secret) => buildSignatureHeaders("evt_1", 1_000, body, [secret])["webhook-signature"]
    )
    assert.strictEqual(both, alone.join(" "))
  })

  it("is rejected for another secret, body, id or timestamp", () => {
    const headers = buildSignatureHeaders("evt_1", Date.now(), body, [newer])
    assert.throws(() => verify(older, body, headers))
    assert.throws(() => verify(newer, Buffer.concat([body, Buffer.from(" ")]), headers))
    assert.throws(() => verify(newer, body, { ...headers, "webhook-id": "evt_2" }))
    const later = String(Number(headers["webhook-timestamp"]) + 1)
    assert.throws(() => verify(newer, body, { ...headers, "webhook-timestamp": later }))
    assert.throws(() => verify(newer, body, buildSignatureHeaders("evt_1", Date.now() - 600_000, body, [newer])))
  })

  it("is sent with the exact bytes that were signed", async () => {
    const { port, received } = await startReceiver()
    const { send } = useWebhookClient({ allow: "127.0.0.1/32" })
    const now = Date.now()
    const bodies = [body, Buffer.alloc(0), Buffer.from([0, 255, 254, 10, 13]), randomBytes(300_000)]
    for (const bytes of bodies) {
      const url = `http://127.0.0.1:${port}/hook/é?a=1&b=%20#part`
      assert.isTrue((await send({ url, id: "evt_7", body: bytes, secrets: [newer, older], now })).delivered)
      const last = received.at(-1)
      assert.isTrue(last?.body.equals(bytes))
      assert.strictEqual(last?.path, "/hook/%C3%A9?a=1&b=%20")
      assert.deepInclude(last?.headers, {
        ...buildSignatureHeaders("evt_7", now, bytes, [newer, older]),
        "content-type": "application/json",
        "user-agent": "contracting-webhooks/0.1",
        "content-length": String(bytes.length)
      })
    }
  })
})
