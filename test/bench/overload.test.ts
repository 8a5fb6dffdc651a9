import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { LoadResult } from "../../bench/overload/generator/load.ts"
import { generateLoad } from "../../bench/overload/generator/loadGenerator.ts"
import { findViolations, type OverloadRound } from "../../bench/overload/overloadReport.ts"

describe("generate of the overload benchmark", () => {
  const responses = { accepted: 0, refused: 0, closed: 0 }
  const server = createServer((request, response) => {
    if (request.url === "/refused") {
      responses.refused++
      response.writeHead(429, { "content-length": "2" }).end("no")
    } else if (request.url === "/closed") {
      responses.closed++
      response.writeHead(200, { connection: "close", "content-length": "0" }).end()
    } else {
      responses.accepted++
      // In two chunks, like a long response.
      response.writeHead(200, { "content-length": "6" })
      response.write("abc")
      setImmediate(() => response.end("def"))
    }
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const requests = ["/accepted", "/refused", "/closed"].map((path) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`)
  const load = () => ({
    port: (server.address() as AddressInfo).port, // the server listens on a TCP port
    requests,
    connections: 3,
    seconds: 1
  })

  it("counts accepted and rejected requests and reconnects after a closed connection", async () => {
    const result = await generateLoad(load())
    assert.strictEqual(result.failures, 0)
    assert.isAbove(result.rejectedPerSecond, 0)
    assert.approximately(result.acceptedPerSecond / result.rejectedPerSecond, 2, 0.5)
    assert.isAbove(Math.min(responses.accepted, responses.refused, responses.closed), 10)
  })

  it("sends at the given rate and counts requests without a free connection, also if it stands still", async () => {
    const generating = generateLoad({ ...load(), perSecond: 60 })
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500), 2800)
    const { failures, sentPerSecond, unsentPerSecond } = await generating
    assert.strictEqual(failures, 0)
    assert.approximately(sentPerSecond + unsentPerSecond, 60, 1)
  })
})

describe("brokenIn of the overload benchmark", () => {
  const result: LoadResult = {
    sentPerSecond: 500,
    unsentPerSecond: 0,
    acceptedPerSecond: 100,
    rejectedPerSecond: 400,
    failures: 0,
    acceptedP50: 10,
    acceptedP99: 20,
    generatorCpuShare: 0.1
  }
  const round: OverloadRound = {
    saturation: result,
    offeredPerSecond: 500,
    overload: result,
    probes: [
      { path: "/healthz", count: 5, maxMillis: 2, failures: 0 },
      { path: "/readyz", count: 5, maxMillis: 2, failures: 0 }
    ]
  }
  const broken = (one: OverloadRound) => findViolations({ name: "all", rounds: [one] })

  it("reports nothing when goodput, latency and health probes stay within bounds", () => {
    assert.deepStrictEqual(broken(round), [])
  })

  it("reports low goodput, high latency, failures and a failing health probe", () => {
    const overload = { ...result, acceptedPerSecond: 89, acceptedP99: 61, failures: 1 }
    const probes = round.probes.map((probe) => ({ ...probe, failures: probe.path === "/readyz" ? 2 : 0 }))
    assert.deepStrictEqual(broken({ ...round, overload, probes }), [
      "all: 0.89 of the goodput at saturation, expected at least 0.9",
      "all: p99 is 3.05 times that at saturation, expected at most 3",
      "all: 1 requests failed with neither 429 nor 503",
      "all: /readyz failed 2 times"
    ])
  })
})
