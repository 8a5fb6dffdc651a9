import type { TLSSocket } from "node:tls"
import { assert, describe, it } from "vitest"
import { certificate } from "./certificate.ts"
import { startReceiver, startTlsReceiver } from "./receiver.ts"
import { countConnectionAttempts, useWebhookClient } from "./webhookClient.ts"

const names = {
  "hooks.example.com": [["93.184.216.34", "2606:2800:220:1::1"]],
  "xn--mnchen-3ya.example.com": [["93.184.216.34"]],
  "inner.example.com": [["10.2.0.1", "10.2.0.2"]],
  "both.example.com": [["93.184.216.34", "10.2.0.1"]],
  "localhost.example.com": [["93.184.216.34"]],
  notlocal: [["93.184.216.34"]]
}

describe("requireAllowedUrl", () => {
  it.each([
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/a/b?c=d#e",
    "https://hooks.example.com:443/",
    "https://hooks.example.com:8443/",
    "HTTPS://HOOKS.EXAMPLE.COM/",
    "https://münchen.example.com/",
    "https://localhost.example.com/",
    "https://8.8.8.8/",
    "https://134744072/",
    "https://1.1.1.1:8443/",
    "https://172.15.255.255/",
    "https://172.32.0.1/",
    "https://100.128.0.1/",
    "https://198.20.0.1/",
    "https://223.255.255.255/",
    "https://[2606:4700:4700::1111]/",
    "https://[2a00:1450:4001:81b::200e]:8443/",
    "https://[::ffff:8.8.8.8]/"
  ])("accepts %s without connecting to it", async (url) => {
    const connectionAttempts = countConnectionAttempts()
    const { check } = useWebhookClient({ names })
    assert.isUndefined(await check(url))
    assert.strictEqual(connectionAttempts(), 0)
  })

  it.each([
    ["http://10.2.0.1/", true],
    ["http://10.2.0.1:6000/", true],
    ["https://10.2.255.255:1/", true],
    ["http://[fd00::1]:8080/", true],
    ["http://[::ffff:10.2.0.1]/", true],
    ["http://inner.example.com:8080/", true],
    ["https://both.example.com/", true],
    ["http://both.example.com/", false],
    ["https://both.example.com:9000/", false],
    ["http://hooks.example.com/", false],
    ["https://10.3.0.1/", false],
    ["http://10.3.0.1/", false],
    ["https://127.0.0.1/", false],
    ["https://[fd01::1]/", false],
    ["http://alice@10.2.0.1/", false],
    ["http://localhost/", false],
    ["ftp://10.2.0.1/", false]
  ])("with DELIVERY_ALLOW=10.2.0.0/16,fd00::/32 accepts %s: %s", async (url, isAllowed) => {
    const { check } = useWebhookClient({ allow: "10.2.0.0/16, fd00::/32", names })
    assert.strictEqual((await check(url)) === undefined, isAllowed)
  })
})

describe("A webhook delivery over TLS", () => {
  const local = { "hooks.example.com": [["127.0.0.1"]], "other.example.com": [["127.0.0.1"]] }

  it("connects to the checked address with the host name of the URL", async () => {
    const { port, received, server } = await startTlsReceiver()
    const serverNames: Array<unknown> = []
    server.on("secureConnection", (socket: TLSSocket & { servername?: string }) => serverNames.push(socket.servername))
    const { send } = useWebhookClient({ allow: "127.0.0.0/8", names: local, roots: [certificate.cert] })
    const result = await send({ url: `https://hooks.example.com:${port}/` })
    assert.deepInclude(result, { delivered: true, status: 200, body: "thanks" })
    assert.deepStrictEqual(serverNames, ["hooks.example.com"])
    assert.strictEqual(received[0]?.headers.host, `hooks.example.com:${port}`)
    assert.isTrue((await send({ url: `https://127.0.0.1:${port}/` })).delivered)
  })

  it("requires a trusted certificate for its host", async () => {
    const { port, received } = await startTlsReceiver()
    const trustingClient = useWebhookClient({ allow: "127.0.0.0/8", names: local, roots: [certificate.cert] })
    const defaultClient = useWebhookClient({ allow: "127.0.0.0/8", names: local })
    assert.deepStrictEqual(
      [
        (await defaultClient.send({ url: `https://hooks.example.com:${port}/` })).error,
        (await trustingClient.send({ url: `https://other.example.com:${port}/` })).error
      ],
      [
        "The certificate of hooks.example.com is not trusted: use one of a known authority",
        "The certificate of other.example.com is for another host"
      ]
    )
    assert.lengthOf(received, 0)
  })

  it("reports a receiver that does not speak TLS", async () => {
    const { port } = await startReceiver()
    const { send } = useWebhookClient({ allow: "127.0.0.0/8" })
    const { error } = await send({ url: `https://127.0.0.1:${port}/` })
    assert.strictEqual(error, "127.0.0.1 failed the TLS handshake")
  })
})

describe("A webhook delivery to a host with several addresses", () => {
  it("uses the next address if one is unreachable", async () => {
    const { port } = await startReceiver(undefined, "127.0.0.1")
    const { send } = useWebhookClient({
      allow: "127.0.0.0/8,::1/128",
      names: { "two.example.com": [["::1", "127.0.0.1"]] }
    })
    assert.isTrue((await send({ url: `http://two.example.com:${port}/` })).delivered)
  })
})
