import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Deferred, Effect, Schema } from "effect"
import { assert, describe, it, vi } from "vitest"
import { anyCaller } from "../../src/http/api/Access.ts"
import { data } from "../../src/http/api/Envelope.ts"
import { operation } from "../../src/http/api/Operation.ts"
import { handlerGroups } from "../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../src/http/server/Handlers.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { sendRaw } from "../support/servers/rawHttp.ts"
import { type Service, startService } from "../support/servers/service.ts"

/** An operation that reports its start and ends only after its release. */
const makeGates = () => {
  const gates = new Map(
    ["first", "second"].map((name) => [
      name,
      { started: Effect.runSync(Deferred.make<void>()), released: Effect.runSync(Deferred.make<void>()) }
    ])
  )
  const gate = (name: string) => gates.get(name) ?? assert.fail(`no gate ${name}`)
  const slow = handleGroup(
    HttpApiGroup.make("slow").add(
      HttpApiEndpoint.get("pass", "/gates/:name")
        .setPath(Schema.Struct({ name: Schema.String }))
        .addSuccess(data(Schema.String))
        .annotateContext(operation("Pass a gate", anyCaller, { description: "For this test." }))
    ),
    Effect.void,
    () => ({
      pass: ({ path: { name } }) =>
        Effect.gen(function* () {
          const { released, started } = gate(name)
          yield* Deferred.succeed(started, undefined)
          yield* Deferred.await(released)
          return `through the ${name} gate`
        })
    })
  )
  return {
    slow,
    untilStarted: (name: string) => Effect.runPromise(Deferred.await(gate(name).started)),
    release: (name: string) => Effect.runSync(Deferred.succeed(gate(name).released, undefined))
  }
}

const portOf = (service: Service) => Number(new URL(service.url).port)

/** Opens a connection and sends one request over it. */
const idleConnection = async (service: Service) => {
  const socket = connect(portOf(service), "127.0.0.1")
  socket.write("GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
  await once(socket, "data")
  return socket
}

const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.on("error", () => resolve(true))
  })

/** Sends a request over a keep-alive connection. */
const sendKeepAlive = async (service: Service, path: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const outgoing = request({
    agent,
    host: "127.0.0.1",
    port: portOf(service),
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${await service.token("owner")}` }
  })
  const responded = once(outgoing, "response")
  outgoing.end()
  const [socket] = (await once(outgoing, "socket")) as [Socket]
  const closed = once(socket, "close")
  const response = responded.then(async ([incoming]: Array<IncomingMessage>) => [
    incoming?.statusCode,
    incoming === undefined ? "" : await text(incoming)
  ])
  // A failure before the test awaits the response is not unhandled.
  response.catch(() => {})
  return { response, closed }
}

describe("A stopping service", () => {
  it("finishes running requests, accepts no new ones and closes idle connections", async () => {
    const gates = makeGates()
    const service = await startService({}, [...handlerGroups, gates.slow])
    const port = portOf(service)
    const first = await sendKeepAlive(service, "/gates/first")
    const second = await sendKeepAlive(service, "/gates/second")
    await Promise.all([gates.untilStarted("first"), gates.untilStarted("second")])
    const idle = await idleConnection(service)
    const idleClosed = once(idle, "close")
    const unused = connect(port, "127.0.0.1")
    await once(unused, "connect")

    const stopped = service.stop()
    // Both requests still run, so the stop itself closes the idle connection.
    await idleClosed
    assert.isTrue(await isRefused(port))

    gates.release("first")
    assert.deepStrictEqual(await first.response, [200, `{"data":"through the first gate"}`])
    // The connection closes while the second request still runs.
    await first.closed

    gates.release("second")
    assert.deepStrictEqual(await second.response, [200, `{"data":"through the second gate"}`])
    await stopped
    unused.destroy()
  })

  it("reports that it is not ready and serves requests during SHUTDOWN_DELAY_SECONDS", async () => {
    const metricsPort = await findClosedPort()
    const service = await startService({ SHUTDOWN_DELAY_SECONDS: "3", METRICS_PORT: String(metricsPort) })
    const tenant = await service.newTenant()
    const ready = async () => (await service.call("GET", "/readyz")).status
    assert.strictEqual(await ready(), 200)
    const stopped = service.stop()
    await vi.waitUntil(async () => (await ready()) === 503, { timeout: 2000, interval: 5 })
    assert.isFalse(await isRefused(portOf(service)))
    assert.strictEqual((await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).status, 503)
    const created = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Late" } })
    assert.strictEqual(created.status, 201)
    await stopped
    assert.isTrue(await isRefused(portOf(service)))
  })

  it("keeps its database connections for running requests", async () => {
    const gates = makeGates()
    const service = await startService({}, [...handlerGroups, gates.slow])
    const running = await sendKeepAlive(service, "/gates/first")
    await gates.untilStarted("first")
    const busy = await idleConnection(service)
    const tenant = await service.newTenant()
    const head = `Host: test\r\nAuthorization: Bearer ${await service.token("owner")}\r\ntenant-id: ${tenant}\r\n`
    const body = `{"name":"Northwind"}`
    // The service has the head of the request and waits for its body.
    busy.write(`POST /api/v1/clients HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n`)
    assert.strictEqual((await sendRaw(service.url, { path: "/healthz" })).status, 200)
    const stopped = service.stop()
    const responded = once(busy, "data")
    busy.write(body)
    assert.match(String(await responded), /^HTTP\/1\.1 201 /)
    gates.release("first")
    assert.deepStrictEqual(await running.response, [200, `{"data":"through the first gate"}`])
    await stopped
    busy.destroy()
  })
})
