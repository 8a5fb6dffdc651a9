import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { generate } from "../../bench/overload/generator/generate.ts"
import type { LoadResult } from "../../bench/overload/generator/orders.ts"
import { brokenIn, type Round } from "../../bench/overload/overloadReport.ts"

describe("the load generator", () => {
  const answered = { accepted: 0, refused: 0, closed: 0 }
  const server = createServer((request, response) => {
    if (request.url === "/refused") {
      answered.refused++
      response.writeHead(429, { "content-length": "2" }).end("no")
    } else if (request.url === "/closed") {
      answered.closed++
      response.writeHead(200, { connection: "close", "content-length": "0" }).end()
    } else {
      answered.accepted++
      // In two pieces, as a long answer comes.
      response.writeHead(200, { "content-length": "6" })
      response.write("abc")
      setImmediate(() => response.end("def"))
    }
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const requests = ["/accepted", "/refused", "/closed"].map((path) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`)
  const load = () => ({
    port: (server.address() as AddressInfo).port, // it listens on a port
    requests,
    connections: 3,
    seconds: 1
  })

  it("tells accepted from refused requests and goes on over a new connection when one was closed", async () => {
    const result = await generate(load())
    assert.strictEqual(result.failures, 0)
    assert.isAbove(result.refusedPerSecond, 0)
    assert.approximately(result.acceptedPerSecond / result.refusedPerSecond, 2, 0.5)
    assert.isAbove(Math.min(answered.accepted, answered.refused, answered.closed), 10)
  })

  it("sends no more than the rate it is given, and counts what finds no free connection", async () => {
    const { failures, sentPerSecond, unsentPerSecond } = await generate({ ...load(), perSecond: 60 })
    assert.strictEqual(failures, 0)
    assert.approximately(sentPerSecond + unsentPerSecond, 60, 5)
  })
})

describe("the bounds of overload", () => {
  const result: LoadResult = {
    sentPerSecond: 500,
    unsentPerSecond: 0,
    acceptedPerSecond: 100,
    refusedPerSecond: 400,
    failures: 0,
    acceptedP50: 10,
    acceptedP99: 20,
    generatorShare: 0.1
  }
  const round: Round = {
    saturation: result,
    offeredPerSecond: 500,
    overload: result,
    probes: [
      { path: "/healthz", count: 5, maxMillis: 2, failures: 0 },
      { path: "/readyz", count: 5, maxMillis: 2, failures: 0 }
    ]
  }
  const broken = (one: Round) => brokenIn({ name: "all", rounds: [one] })

  it("hold when nearly as much is done as at best, hardly slower, and both health pages answer", () => {
    assert.deepStrictEqual(broken(round), [])
  })

  it("are broken by less goodput, slower answers, failures and a health page that fails", () => {
    const overload = { ...result, acceptedPerSecond: 89, acceptedP99: 61, failures: 1 }
    const probes = round.probes.map((probe) => ({ ...probe, failures: probe.path === "/readyz" ? 2 : 0 }))
    assert.deepStrictEqual(broken({ ...round, overload, probes }), [
      "all: 0.89 of the best is left, not 0.9",
      "all: the p99 is 3.05 times that of the best, not 3",
      "all: 1 requests failed otherwise than with 429 or 503",
      "all: /readyz failed 2 times"
    ])
  })
})
