import { connect } from "node:net"
import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Effect, Exit, Fiber, Layer, ManagedRuntime, Schema, Scope } from "effect"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { anyCaller, operation } from "../../../src/http/api/Access.ts"
import { data } from "../../../src/http/api/Envelope.ts"
import { handlerGroups } from "../../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../../src/http/server/Handlers.ts"
import { RequestMetrics } from "../../../src/http/server/pages/RequestMetrics.ts"
import { makeResponseLimits } from "../../../src/http/server/response/ResponseLimits.ts"
import { listen } from "../../../src/http/server/Server.ts"
import { MetricsRegistry } from "../../../src/layers/telemetry/MetricsRegistry.ts"
import { assertTooManyRequests } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

const makeLimits = () => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(RequestMetrics.Default, MetricsRegistry.Default))
  const refusals = async (reason: string) => {
    const { registry } = runtime.runSync(MetricsRegistry)
    return parseMetrics(await registry.metrics()).find(
      ({ labels, name }) => name === "http_requests_refused_total" && labels["reason"] === reason
    )?.value
  }
  return { limits: runtime.runSync(makeResponseLimits), refusals }
}

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 10_000, interval: 10 })

/** More than the buffers between two sockets of a machine hold, and half of what one key may leave unread. */
const body = Buffer.alloc(16 * 1024 * 1024)

/** A server whose answers are charged to the keys in the path. */
const startAnswering = async () => {
  const { limits, refusals } = makeLimits()
  const scope = Effect.runSync(Scope.make())
  let answered = 0
  const answering = listen(
    ({ url = "" }, response) => {
      response.end(body)
      limits.trackUnread(response, url.split("/").filter(Boolean))
      answered++
    },
    { host: "127.0.0.1", port: 0 }
  )
  const port = await Effect.runPromise(Scope.extend(answering, scope))

  /** One connection on which so many are asked for at once, of whose answers nothing is read before it is resumed. */
  const ask = async (path: string, count = 1) => {
    const before = answered
    const caller = connect(port, "127.0.0.1").pause()
    onTestFinished(() => void caller.destroy())
    caller.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(count))
    await until(() => answered === before + count)
    return caller
  }
  const refusal = (...keys: ReadonlyArray<string>) => limits.checkUnread(keys)?._tag
  return { ask, refusal, refusals, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

describe("answers that are not read", () => {
  const at = useFixture(startAnswering)

  it("keep those they are for from more, and nobody else, until they are read", async () => {
    const { ask, refusal, refusals } = at()
    const first = await ask("/caller/tenant")
    assert.isUndefined(refusal("caller", "tenant"))
    const second = await ask("/colleague/tenant")
    assert.isUndefined(refusal("caller"))
    assert.strictEqual(refusal("third", "tenant"), "TooManyRequests")
    assert.isUndefined(refusal("other", "other tenant"))
    assert.strictEqual(await refusals("unread"), 1)
    first.resume()
    second.resume()
    await until(() => refusal("caller", "tenant") === undefined)
  })

  it("are forgotten when those they are for have left", async () => {
    const { ask, refusal } = at()
    const callers = [await ask("/leaver"), await ask("/leaver")]
    assert.strictEqual(refusal("leaver"), "TooManyRequests")
    for (const caller of callers) caller.destroy()
    await until(() => refusal("leaver") === undefined)
  })

  it("are forgotten also where they wait behind others of their connection", async () => {
    const { ask, refusal } = at()
    const caller = await ask("/eager", 4)
    assert.strictEqual(refusal("eager"), "TooManyRequests")
    caller.destroy()
    await until(() => refusal("eager") === undefined)
  })

  it("are held against nobody where nobody is known to whom they could be charged", async () => {
    const { ask, refusal } = at()
    for (let n = 0; n < 17; n++) await ask("/")
    assert.isUndefined(refusal("anyone"))
  })
})

describe("answers that are written piece by piece", () => {
  const startMany = (write: Effect.Effect<void, string> = Effect.never) => {
    const { limits, refusals } = makeLimits()
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
    return { writing, tryOne, refusals }
  }

  it("are eight lists of one key at a time, whichever of its keys that is", async () => {
    const { refusals, tryOne } = startMany()
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "TooManyRequests")
    assert.strictEqual(await tryOne("lists", "tenant"), "TooManyRequests")
    assert.strictEqual(await tryOne("lists", "caller 0", "other tenant"), "written")
    assert.strictEqual(await tryOne("files", "caller 9", "tenant"), "written")
    assert.strictEqual(await refusals("lists"), 2)
  })

  it("leave their place to another when they are interrupted", async () => {
    const { tryOne, writing } = startMany()
    for (const fiber of writing.slice(0, 1)) await Effect.runPromise(Fiber.interrupt(fiber))
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
  })

  it("leave their place to another when they fail, which they do as their writing does", async () => {
    const { tryOne, writing } = startMany(Effect.fail("cut off"))
    for (const fiber of writing) assert.strictEqual(await Effect.runPromise(Effect.flip(Fiber.join(fiber))), "cut off")
    assert.strictEqual(await tryOne("lists", "caller 9", "tenant"), "written")
  })
})

/** An operation whose answer is long. */
const long = handleGroup(
  HttpApiGroup.make("long").add(
    HttpApiEndpoint.get("read", "/long")
      .addSuccess(data(Schema.String))
      .annotateContext(operation("Read something long", anyCaller))
  ),
  Effect.void,
  () => ({ read: () => Effect.succeed("x".repeat(body.length)) })
)

describe("a caller of the service who does not read", () => {
  const at = useFixture(() => startService({}, [...handlerGroups, long]))

  it("gets nothing more until that is read or left, and others do", async () => {
    const service = at()
    const head = `host: a\r\nauthorization: Bearer ${await service.token("idle")}\r\n`
    const { hostname, port } = new URL(service.url)
    const idle = [1, 2].map(() => {
      const caller = connect(Number(port), hostname).pause()
      caller.write(`GET /api/v1/long HTTP/1.1\r\n${head}\r\n`)
      return caller
    })
    const list = (as: string) => service.api("GET", "/tenants", { as })
    await vi.waitFor(async () => assertTooManyRequests(await list("idle")), { timeout: 10_000, interval: 10 })
    assert.strictEqual((await list("other")).status, 200)
    for (const caller of idle) caller.destroy()
    await vi.waitFor(async () => assert.strictEqual((await list("idle")).status, 200), {
      timeout: 10_000,
      interval: 10
    })
  })
})
