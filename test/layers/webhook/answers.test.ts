import type { RequestListener } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { resolveByDns } from "../../../src/layers/webhook/SsrfGuard.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { rawReceiver, receiver } from "./receiver.ts"
import { webhooksFor } from "./rig.ts"

const allow = "127.0.0.0/8"

const sendTo = (port: number, timeoutMs = 400) =>
  webhooksFor({ allow }).send({ url: `http://127.0.0.1:${port}/`, timeoutMs })

const answered = async (answer: RequestListener) => sendTo((await receiver(answer)).port, 10_000)
const met = async (onData: (socket: Socket) => void) => sendTo((await rawReceiver(onData)).port)

const drip = async (socket: Socket) => {
  while (!socket.destroyed) {
    socket.write("x")
    await pause(20)
  }
}

describe("an answer", () => {
  it.each([200, 201, 202, 204, 299])("of %i means delivered", async (status) => {
    const { latencyMs, ...outcome } = await answered((_, response) => response.writeHead(status).end())
    assert.deepStrictEqual(outcome, { delivered: true, status, body: "" })
    assert.isAtLeast(latencyMs, 0)
  })

  it.each([400, 401, 404, 410, 418, 429, 500, 502, 503, 504, 599])("of %i does not", async (status) => {
    const outcome = await answered((_, response) => response.writeHead(status).end("oh no"))
    assert.deepInclude(outcome, {
      delivered: false,
      status,
      body: "oh no",
      error: `127.0.0.1 answered ${status}`
    })
    const wantsNoMore = "The receiver answered 410: it wants no more deliveries"
    assert.strictEqual(outcome.stop, status === 410 ? wantsNoMore : undefined)
  })

  it.each(["120", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"])("tells when to try again: %s", async (retryAfter) => {
    const outcome = await answered((_, response) => response.writeHead(429, { "retry-after": retryAfter }).end())
    assert.strictEqual(outcome.retryAfter, retryAfter)
  })

  it("may be announced by others before it", async () => {
    const outcome = await answered((_, response) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: "</a>; rel=preload" })
      response.writeHead(500).end("late")
    })
    assert.deepInclude(outcome, { delivered: false, status: 500, body: "late" })
  })

  it("is kept only in its beginning", async () => {
    const { body, delivered } = await answered((_, response) => response.end("ä".repeat(5_000)))
    assert.isTrue(delivered)
    assert.strictEqual(body, "ä".repeat(2048))
    const odd = await answered((_, response) => response.end(`x${"ä".repeat(5_000)}`))
    assert.strictEqual(odd.body, `x${"ä".repeat(2047)}`)
  })

  it("that never ends is left when there is too much of it", async () => {
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
    const outcome = await answered(endless)
    assert.deepInclude(outcome, { delivered: true, status: 200, body: "y".repeat(4096) })
    while (!isClosed) await pause(10)
    assert.isBelow(written, 20_000_000)
  })

  it("that is no text becomes some that PostgreSQL can hold", async () => {
    const bytes = Buffer.from([0x61, 0, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])
    const { body } = await answered((_, response) => response.end(bytes))
    assert.isTrue(body?.startsWith("a\ufffd\ufffd(") && body.endsWith("b") && body.isWellFormed())
    assert.notInclude(body, "\u0000")
  })
})

describe("a receiver that", () => {
  it("never answers is waited for only so long", async () => {
    const outcome = await met(() => {})
    assert.deepStrictEqual(outcome, {
      delivered: false,
      latencyMs: outcome.latencyMs,
      error: "127.0.0.1 did not answer within 0.4 s"
    })
    assert.isAtLeast(outcome.latencyMs, 390)
    assert.isBelow(outcome.latencyMs, 3_000)
  })

  it("drips bytes, before or after its headers end, is waited for no longer", async () => {
    const before = await met((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-slow: ")
      void drip(socket)
    })
    assert.strictEqual(before.error, "127.0.0.1 did not answer within 0.4 s")
    const after = await met((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
      void drip(socket)
    })
    assert.deepInclude(after, {
      delivered: false,
      status: 200,
      error: "127.0.0.1 answered 200 but did not come to an end within 0.4 s"
    })
    assert.match(after.body ?? "", /^x+$/)
    for (const { latencyMs } of [before, after]) assert.isBelow(latencyMs, 3_000)
  })

  it("hangs after its headers has not taken it", async () => {
    const outcome = await met((socket) => socket.write("HTTP/1.1 410 Gone\r\ncontent-length: 10\r\n\r\nab"))
    assert.deepInclude(outcome, { delivered: false, status: 410, body: "ab" })
    assert.include(outcome.stop, "410")
  })

  it("cannot even be found is waited for no longer", async () => {
    const { send } = webhooksFor({ allow, resolve: () => Effect.never })
    const { error, latencyMs } = await send({ url: "https://slow.example.com/", timeoutMs: 300 })
    assert.strictEqual(error, "slow.example.com did not answer within 0.3 s")
    assert.isBelow(latencyMs, 3_000)
  })

  it("has a name nobody knows is told so before long", async () => {
    const { send } = webhooksFor({ allow, resolve: resolveByDns })
    const { delivered, error } = await send({ url: "https://nobody.invalid/" })
    assert.isFalse(delivered)
    assert.strictEqual(error, "The URL must have a host that can be found: no address is known for nobody.invalid")
  })

  it.each([
    ["resets", (socket: Socket) => socket.resetAndDestroy(), "closed the connection before it had answered"],
    ["hangs up", (socket: Socket) => socket.end(), "closed the connection before it had answered"],
    ["stops in its answer", (s: Socket) => s.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab"), "closed the"],
    ["speaks otherwise", (socket: Socket) => socket.end("220 mail.example.com ESMTP\r\n"), "is not HTTP"],
    ["shouts", (s: Socket) => s.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(99_999)}\r\n\r\n`), "too many headers"]
  ])("%s is told in words", async (_, onData, words) => {
    const outcome = await met(onData)
    assert.isFalse(outcome.delivered)
    assert.include(outcome.error, words)
    assert.match(outcome.error ?? "", /^127\.0\.0\.1 [a-zA-Z ]+$/)
  })

  it("is not there refuses connections", async () => {
    const { delivered, error } = await sendTo(await findClosedPort())
    assert.deepStrictEqual([delivered, error], [false, "127.0.0.1 refuses connections"])
  })
})
