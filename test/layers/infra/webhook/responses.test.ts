import type { RequestListener } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { resolveByDns } from "../../../../src/layers/infra/webhook/SsrfGuard.ts"
import { findClosedPort } from "../../../support/servers/proxy.ts"
import { eventually } from "../../../support/servers/worker.ts"
import { startRawReceiver, startReceiver } from "./receiver.ts"
import { useWebhookClient } from "./webhookClient.ts"

const allow = "127.0.0.0/8"

const sendTo = (port: number, timeoutMs = 400) =>
  useWebhookClient({ allow }).send({ url: `http://127.0.0.1:${port}/`, timeoutMs })

const sendToHttp = async (respond: RequestListener) => sendTo((await startReceiver(respond)).port, 10_000)
const sendToRaw = async (onData: (socket: Socket) => void, timeoutMs?: number) =>
  sendTo((await startRawReceiver(onData)).port, timeoutMs)

/** A slow receiver, which the timeout has to end. */
const drip = async (socket: Socket) => {
  while (!socket.destroyed) {
    socket.write("x")
    await pause(20)
  }
}

describe("A webhook delivery", () => {
  it.each([200, 201, 202, 204, 299])("succeeds with response status %i", async (status) => {
    const { latencyMs, ...result } = await sendToHttp((_, response) => response.writeHead(status).end())
    assert.deepStrictEqual(result, { delivered: true, status, body: "" })
    assert.isAtLeast(latencyMs, 0)
  })

  it.each([400, 401, 404, 410, 418, 429, 500, 502, 503, 504, 599])("fails with response status %i", async (status) => {
    const result = await sendToHttp((_, response) => response.writeHead(status).end("oh no"))
    assert.deepInclude(result, {
      delivered: false,
      status,
      body: "oh no",
      error: `127.0.0.1 answered ${status}`
    })
    const stopReason = "The receiver answered 410: it wants no more deliveries"
    assert.strictEqual(result.stop, status === 410 ? stopReason : undefined)
  })

  it.each(["120", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"])("returns the Retry-After header %s", async (retryAfter) => {
    const result = await sendToHttp((_, response) => response.writeHead(429, { "retry-after": retryAfter }).end())
    assert.strictEqual(result.retryAfter, retryAfter)
  })

  it("ignores informational responses before the final one", async () => {
    const result = await sendToHttp((_, response) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: "</a>; rel=preload" })
      response.writeHead(500).end("late")
    })
    assert.deepInclude(result, { delivered: false, status: 500, body: "late" })
  })

  it("keeps the first 4096 bytes of the response body", async () => {
    const { body, delivered } = await sendToHttp((_, response) => response.end("ä".repeat(5_000)))
    assert.isTrue(delivered)
    assert.strictEqual(body, "ä".repeat(2048))
    const odd = await sendToHttp((_, response) => response.end(`x${"ä".repeat(5_000)}`))
    assert.strictEqual(odd.body, `x${"ä".repeat(2047)}`)
  })

  it("succeeds and closes the connection of an endless response", async () => {
    let written = 0
    let isClosed = false
    const endless: RequestListener = (_, response) => {
      response.on("close", () => {
        isClosed = true
      })
      const more = () => {
        while (!isClosed && response.write(Buffer.alloc(16_384, "y"))) written += 16_384
        if (!isClosed) response.once("drain", more)
      }
      more()
    }
    const result = await sendToHttp(endless)
    assert.deepInclude(result, { delivered: true, status: 200, body: "y".repeat(4096) })
    await eventually(() => isClosed, "the connection is closed")
    assert.isBelow(written, 20_000_000)
  })

  it("replaces invalid UTF-8 and NUL in the response body", async () => {
    const bytes = Buffer.from([0x61, 0, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])
    const { body } = await sendToHttp((_, response) => response.end(bytes))
    assert.isTrue(body?.startsWith("a\ufffd\ufffd(") && body.endsWith("b") && body.isWellFormed())
    assert.notInclude(body, "\u0000")
  })
})

describe("A webhook delivery to a receiver that", () => {
  it("never responds fails at the timeout", async () => {
    const result = await sendToRaw(() => {})
    assert.deepStrictEqual(result, {
      delivered: false,
      latencyMs: result.latencyMs,
      error: "127.0.0.1 did not answer within 0.4 s"
    })
  })

  it("sends single bytes in its headers or body fails at the timeout", async () => {
    const before = await sendToRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-slow: ")
      void drip(socket)
    })
    assert.strictEqual(before.error, "127.0.0.1 did not answer within 0.4 s")
    const after = await sendToRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
      void drip(socket)
    })
    assert.deepInclude(after, {
      delivered: false,
      status: 200,
      error: "127.0.0.1 answered 200 but did not come to an end within 0.4 s"
    })
    assert.match(after.body ?? "", /^x+$/)
  })

  it("stalls in its body fails with the status and the partial body", async () => {
    const result = await sendToRaw((socket) => socket.write("HTTP/1.1 410 Gone\r\ncontent-length: 10\r\n\r\nab"))
    assert.deepInclude(result, { delivered: false, status: 410, body: "ab" })
    assert.include(result.stop, "410")
  })

  it("has a slow name resolution fails at the timeout", async () => {
    const { send } = useWebhookClient({ allow, resolve: () => Effect.never })
    const { error } = await send({ url: "https://slow.example.com/", timeoutMs: 300 })
    assert.strictEqual(error, "slow.example.com did not answer within 0.3 s")
  })

  it("has an unknown host name fails with the name in its error", async () => {
    const { send } = useWebhookClient({ allow, resolve: resolveByDns })
    const { delivered, error } = await send({ url: "https://nobody.invalid/" })
    assert.isFalse(delivered)
    assert.strictEqual(error, "The URL must have a host that resolves: DNS has no address for nobody.invalid")
  })

  it.each([
    ["resets the connection", (socket: Socket) => socket.resetAndDestroy(), "closed the connection before it answered"],
    ["closes the connection", (socket: Socket) => socket.end(), "closed the connection before it answered"],
    [
      "closes the connection in its body",
      (s: Socket) => s.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab"),
      "closed the"
    ],
    [
      "speaks another protocol",
      (socket: Socket) => socket.end("220 mail.example.com ESMTP\r\n"),
      "did not answer with HTTP"
    ],
    [
      "sends oversized headers",
      (s: Socket) => s.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(99_999)}\r\n\r\n`),
      "too many headers"
    ]
  ])("%s fails with a plain error message", async (_, onData, message) => {
    const result = await sendToRaw(onData, 10_000)
    assert.isFalse(result.delivered)
    assert.include(result.error, message)
    assert.match(result.error ?? "", /^127\.0\.0\.1 [a-zA-Z ]+$/)
  })

  it("does not listen fails with a refused connection", async () => {
    const { delivered, error } = await sendTo(await findClosedPort())
    assert.deepStrictEqual([delivered, error], [false, "127.0.0.1 refuses connections"])
  })
})
