import { IncomingMessage, ServerResponse } from "node:http"
import { connect, Socket } from "node:net"
import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Effect, Exit, Fiber, Layer, ManagedRuntime, Schema, Scope } from "effect"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { anyCaller } from "../../../src/http/api/Access.ts"
import { data } from "../../../src/http/api/Envelope.ts"
import { operation } from "../../../src/http/api/Operation.ts"
import { handlerGroups } from "../../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../../src/http/server/Handlers.ts"
import { RequestMetrics } from "../../../src/http/server/pages/RequestMetrics.ts"
import { makeRejectionDelay, makeResponseLimits } from "../../../src/http/server/response/ResponseLimits.ts"
import { listen } from "../../../src/http/server/Server.ts"
import { MetricsRegistry } from "../../../src/layers/infra/telemetry/MetricsRegistry.ts"
import { assertTooManyRequests } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

const makeLimits = () => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(RequestMetrics.Default, MetricsRegistry.Default))
  const countRejections = async (reason: string) => {
    const { registry } = runtime.runSync(MetricsRegistry)
    return parseMetrics(await registry.metrics()).find(
      ({ labels, name }) => name === "http_requests_refused_total" && labels["reason"] === reason
    )?.value
  }
  return { limits: runtime.runSync(makeResponseLimits), countRejections }
}

const waitUntil = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 60_000, interval: 10 })

/** Larger than the socket buffers, and half of what one key may leave unread. */
const body = Buffer.alloc(16 * 1024 * 1024)

/** A server that charges its responses to the keys in the path. */
const startServer = async () => {
  const { limits, countRejections } = makeLimits()
  const scope = Effect.runSync(Scope.make())
  let responded = 0
  const listening = listen(
    ({ url = "" }, response) => {
      response.end(body)
      limits.trackUnread(response, decodeURIComponent(url).split("/").filter(Boolean))
      responded++
    },
    { host: "127.0.0.1", port: 0 }
  )
  const port = await Effect.runPromise(Scope.extend(listening, scope))

  /** Pipelines requests on one connection and reads no response until the returned socket is resumed. */
  const sendWithoutReading = async (path: string, count = 1) => {
    const before = responded
    const caller = connect(port, "127.0.0.1").pause()
    onTestFinished(() => void caller.destroy())
    caller.on("error", () => {}).write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(count))
    await waitUntil(() => responded > before)
    return caller
  }
  const rejectionFor = (...keys: ReadonlyArray<string>) => limits.checkUnread(keys)?._tag
  return {
    sendWithoutReading,
    responded: () => responded,
    rejectionFor,
    countRejections,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

describe("Unread responses", () => {
  const at = useFixture(startServer)

  it("block further requests of their keys, and of no other keys, until they are read", async () => {
    const { countRejections, rejectionFor, sendWithoutReading } = at()
    const first = await sendWithoutReading("/caller/tenant")
    assert.isUndefined(rejectionFor("caller", "tenant"))
    const second = await sendWithoutReading("/colleague/tenant")
    assert.isUndefined(rejectionFor("caller"))
    assert.strictEqual(rejectionFor("third", "tenant"), "TooManyRequests")
    assert.isUndefined(rejectionFor("other", "other tenant"))
    assert.strictEqual(await countRejections("unread"), 1)
    first.resume()
    second.resume()
    await waitUntil(() => rejectionFor("caller", "tenant") === undefined)
  })

  it("no longer count after their clients disconnected", async () => {
    const { rejectionFor, sendWithoutReading } = at()
    const callers = [await sendWithoutReading("/disconnected"), await sendWithoutReading("/disconnected")]
    assert.strictEqual(rejectionFor("disconnected"), "TooManyRequests")
    for (const caller of callers) caller.destroy()
    await waitUntil(() => rejectionFor("disconnected") === undefined)
  })

  it("of pipelined requests start one after the other, as the client reads them", async () => {
    const { rejectionFor, responded, sendWithoutReading } = at()
    const before = responded()
    const caller = await sendWithoutReading("/eager", 17)
    assert.deepStrictEqual([responded() - before, rejectionFor("eager")], [1, undefined])
    caller.resume()
    await waitUntil(() => responded() - before === 17)
  })

  it("of too many pipelined requests are never sent", async () => {
    const { responded, sendWithoutReading } = at()
    const before = responded()
    const caller = await sendWithoutReading("/flood", 1000)
    await waitUntil(() => caller.resume().destroyed)
    assert.strictEqual(responded() - before, 1)
  })

  it("of an address block pages for it earlier, and no caller", async () => {
    const { rejectionFor, sendWithoutReading } = at()
    for (let n = 0; n < 8; n++) await sendWithoutReading("/address%201")
    assert.strictEqual(rejectionFor("address 1"), "TooManyRequests")
    assert.strictEqual(rejectionFor("address 2"), "ServiceUnavailable")
    assert.isUndefined(rejectionFor("caller"))
  })

  it("without a key block no one", async () => {
    const { rejectionFor, sendWithoutReading } = at()
    for (let n = 0; n < 17; n++) await sendWithoutReading("/")
    assert.isUndefined(rejectionFor("anyone"))
  })
})

describe("Responses that are written in pieces", () => {
  const startMany = (write: Effect.Effect<void, string> = Effect.never) => {
    const { limits, countRejections } = makeLimits()
    const tenant = "tenant"
    const writing = Array.from({ length: 8 }, (_, n) =>
      Effect.runFork(limits.writeLimited("lists", [`caller ${n}`, tenant], write))
    )
    const tryOne = (kind: "lists" | "files", ...keys: ReadonlyArray<string>) =>
      Effect.runPromise(
        Effect.match(limits.writeLimited(kind, keys, Effect.succeed("written")), {
          onSuccess: (written) => written,
          onFailure: ({ _tag }) => _tag
        })
      )
    return { writing, tryOne, countRejections }
  }

  it("are limited to eight lists at a time for each key", async () => {
    const { countRejections, tryOne } = startMany()
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "TooManyRequests")
    assert.strictEqual(await tryOne("lists", "tenant"), "TooManyRequests")
    assert.strictEqual(await tryOne("lists", "caller 0", "other tenant"), "written")
    assert.strictEqual(await tryOne("files", "caller 9", "tenant"), "written")
    assert.strictEqual(await countRejections("lists"), 2)
  })

  it("release their permit when they are interrupted", async () => {
    const { tryOne, writing } = startMany()
    for (const fiber of writing.slice(0, 1)) await Effect.runPromise(Fiber.interrupt(fiber))
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
  })

  it("release their permit when writing fails and fail with the same error", async () => {
    const { tryOne, writing } = startMany(Effect.fail("cut off"))
    for (const fiber of writing) assert.strictEqual(await Effect.runPromise(Effect.flip(Fiber.join(fiber))), "cut off")
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
  })
})

/** An operation with a large response. */
const largeResponse = handleGroup(
  HttpApiGroup.make("long").add(
    HttpApiEndpoint.get("read", "/long")
      .addSuccess(data(Schema.String))
      .annotateContext(operation("Read a large response", anyCaller, { description: "For this test." }))
  ),
  Effect.void,
  () => ({ read: () => Effect.succeed("x".repeat(body.length)) })
)

describe("A caller who does not read responses", () => {
  const at = useFixture(() => startService({}, [...handlerGroups, largeResponse]))

  it("gets 429 until the connections close, while other callers are served", async () => {
    const service = at()
    const head = `host: a\r\nauthorization: Bearer ${await service.token("idle")}\r\n`
    const { hostname, port } = new URL(service.url)
    const idle = [1, 2].map(() => {
      const caller = connect(Number(port), hostname).pause()
      caller.write(`GET /api/v1/long HTTP/1.1\r\n${head}\r\n`)
      return caller
    })
    const list = (as: string) => service.api("GET", "/tenants", { as })
    await vi.waitFor(async () => assertTooManyRequests(await list("idle")), { timeout: 60_000, interval: 10 })
    assert.strictEqual((await list("other")).status, 200)
    for (const caller of idle) caller.destroy()
    await vi.waitFor(async () => assert.strictEqual((await list("idle")).status, 200), {
      timeout: 60_000,
      interval: 10
    })
  })
})

describe("The delay of rejections", () => {
  const open = () => new ServerResponse(new IncomingMessage(new Socket()))

  it("holds a response back, and each response beyond the maximum not at all", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const delay = makeRejectionDelay(1000, 2)
    const responded: Array<string> = []
    for (const name of ["first", "second", "third"]) delay(open(), 0, () => responded.push(name))
    assert.deepStrictEqual(responded, ["third"])
    vi.advanceTimersByTime(999)
    assert.deepStrictEqual(responded, ["third"])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(responded, ["third", "first", "second"])
    delay(open(), 0, () => responded.push("fourth"))
    assert.notInclude(responded, "fourth")
  })

  it("counts from the arrival of the request", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const delay = makeRejectionDelay(1000, 2)
    const responded: Array<string> = []
    delay(open(), 1000, () => responded.push("old"))
    delay(open(), 600, () => responded.push("younger"))
    vi.advanceTimersByTime(399)
    assert.deepStrictEqual(responded, ["old"])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(responded, ["old", "younger"])
  })

  it("ends when the client disconnects, once", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const delay = makeRejectionDelay(1000, 1)
    const response = open()
    let responses = 0
    delay(response, 0, () => responses++)
    response.emit("close")
    response.emit("close")
    vi.advanceTimersByTime(2000)
    assert.strictEqual(responses, 1)
    delay(open(), 0, () => responses++)
    assert.strictEqual(responses, 1)
  })
})
