import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Deferred, Effect, Schema } from "effect"
import { assert, describe, it, vi } from "vitest"
import { anyCaller, operation } from "../../src/http/api/Access.ts"
import { data } from "../../src/http/api/Envelope.ts"
import { handlerGroups } from "../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../src/http/server/Handlers.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { sendRaw } from "../support/servers/rawHttp.ts"
import { type Service, startService } from "../support/servers/service.ts"

/** An operation that says when it has begun and goes on only when it is let. */
const makeGates = () => {
  const gates = new Map(
    ["first", "second"].map((name) => [
      name,
      { begun: Effect.runSync(Deferred.make<void>()), released: Effect.runSync(Deferred.make<void>()) }
    ])
  )
  const gate = (name: string) => gates.get(name) ?? assert.fail(`there is no gate ${name}`)
  const slow = handleGroup(
    HttpApiGroup.make("slow").add(
      HttpApiEndpoint.get("pass", "/gates/:name")
        .setPath(Schema.Struct({ name: Schema.String }))
        .addSuccess(data(Schema.String))
        .annotateContext(operation("Pass a gate", anyCaller))
    ),
    Effect.void,
    () => ({
      pass: ({ path: { name } }) =>
        Effect.gen(function* () {
          const { begun, released } = gate(name)
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(released)
          return `through the ${name} gate`
        })
    })
  )
  return {
    slow,
    begun: (name: string) => Effect.runPromise(Deferred.await(gate(name).begun)),
    release: (name: string) => Effect.runSync(Deferred.succeed(gate(name).released, undefined))
  }
}

const portOf = (service: Service) => Number(new URL(service.url).port)

/** Opens a connection, uses it once and keeps it. */
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

/** A request over a connection that stays open for more, as far as its caller is concerned. */
const keepAlive = async (service: Service, path: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const outgoing = request({
    agent,
    host: "127.0.0.1",
    port: portOf(service),
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${await service.token("owner")}` }
  })
  const answered = once(outgoing, "response")
  outgoing.end()
  const [socket] = (await once(outgoing, "socket")) as [Socket]
  const closed = once(socket, "close")
  const answer = answered.then(async ([response]: Array<IncomingMessage>) => [
    response?.statusCode,
    response === undefined ? "" : await text(response)
  ])
  // Whoever awaits it sees a failure; nobody need do so at once.
  answer.catch(() => {})
  return { answer, closed }
}

describe("a service that stops", () => {
  it("finishes what is under way, takes nothing new, and is not held up by connections nobody uses", async () => {
    const gates = makeGates()
    const service = await startService({}, [...handlerGroups, gates.slow])
    const port = portOf(service)
    const first = await keepAlive(service, "/gates/first")
    const second = await keepAlive(service, "/gates/second")
    await Promise.all([gates.begun("first"), gates.begun("second")])
    const idle = await idleConnection(service)
    const idleClosed = once(idle, "close")
    const unused = connect(port, "127.0.0.1")
    await once(unused, "connect")

    const stopped = service.stop()
    // While a request is still being worked on, so it is the stop that closes it and not its end.
    await idleClosed
    assert.isTrue(await isRefused(port))

    gates.release("first")
    assert.deepStrictEqual(await first.answer, [200, `{"data":"through the first gate"}`])
    // The connection had served its purpose; the second request is still under way.
    await first.closed

    gates.release("second")
    assert.deepStrictEqual(await second.answer, [200, `{"data":"through the second gate"}`])
    await stopped
    unused.destroy()
  })

  it("says first that it is not ready, and goes on for a while for those who have not heard it", async () => {
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

  it("still has its database for what is under way", async () => {
    const gates = makeGates()
    const service = await startService({}, [...handlerGroups, gates.slow])
    const held = await keepAlive(service, "/gates/first")
    await gates.begun("first")
    const busy = await idleConnection(service)
    const tenant = await service.newTenant()
    const head = `Host: test\r\nAuthorization: Bearer ${await service.token("owner")}\r\ntenant-id: ${tenant}\r\n`
    const body = `{"name":"Northwind"}`
    // The head is in, the body is not: the service has begun and waits for the rest.
    busy.write(`POST /api/v1/clients HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n`)
    assert.strictEqual((await sendRaw(service.url, { path: "/healthz" })).status, 200)
    const stopped = service.stop()
    const answered = once(busy, "data")
    busy.write(body)
    assert.match(String(await answered), /^HTTP\/1\.1 201 /)
    gates.release("first")
    assert.deepStrictEqual(await held.answer, [200, `{"data":"through the first gate"}`])
    await stopped
    busy.destroy()
  })
})
