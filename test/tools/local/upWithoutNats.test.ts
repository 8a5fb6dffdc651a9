import { execFileSync, spawn } from "node:child_process"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { findNatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { localhost, requireFreePort } from "../../../tools/local/Ports.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { startReceiver } from "../../support/servers/receiver.ts"
import { dataFolderOf, makePlace, start } from "../../support/servers/upInstance.ts"
import { pollSchedule } from "./temporary.ts"

const natsPort = 4222

const receiver = Effect.acquireRelease(
  Effect.promise(() => startReceiver()),
  ({ stop }) => Effect.promise(stop)
)

/** The command that `npm start` prints, with the streams in a folder. */
const startNatsServer = (folder: string) =>
  Effect.flatMap(findNatsProgram(process.env["NATS_SERVER_BIN"]), ({ path }) =>
    Effect.acquireRelease(
      Effect.sync(() => spawn(path, ["-js", "-a", localhost, "-sd", folder], { stdio: "ignore" })),
      (server) =>
        Effect.async<void>((resume) => {
          server.once("exit", () => resume(Effect.void))
          server.kill("SIGTERM")
        })
    )
  )

const poll = <A>(read: () => Promise<A>, isDone: (value: A) => boolean) =>
  Effect.promise(read).pipe(Effect.repeat({ until: isDone, schedule: pollSchedule }))

/** Calls the API with a token of the command line. */
const makeCaller = (folder: string, base: string) => {
  const main = join(projectRoot, "dist", "main.js")
  const env = { ...process.env, DATA_DIR: dataFolderOf(folder) }
  const token = execFileSync(process.execPath, [main, "token", "--sub", "alice"], { env, encoding: "utf8" }).trim()
  return async (path: string, body?: object, tenant?: string) => {
    const response = await fetch(`${base}/api/v1${path}`, {
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(tenant === undefined ? {} : { "tenant-id": tenant })
      },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    const answer = JSON.parse(await response.text())
    assert.strictEqual(response.status, body === undefined ? 200 : 201, JSON.stringify(answer))
    return answer.data
  }
}

it.scopedLive(
  "The up command starts without a NATS server, names what to install, and sends events once a server runs",
  () =>
    Effect.gen(function* () {
      // The service looks for a server at this port, so another server there would be found.
      yield* requireFreePort(localhost, natsPort)
      const { folder, port } = yield* makePlace
      const { output } = yield* start(folder, port, {
        NATS_SERVER_BIN: join(folder, "missing"),
        DELIVERY_ALLOW: "127.0.0.0/8"
      })
      const hints = output().match(/^! .*$/gm) ?? []
      assert.lengthOf(hints, 1)
      assert.match(hints[0] ?? "", /apt-get install nats-server.* on nats:\/\/127\.0\.0\.1:4222 \(nats-server -js\)/)

      const base = `http://${localhost}:${port}`
      const readBroker = async () => {
        const { broker, ready } = JSON.parse(await (await fetch(`${base}/readyz`)).text())
        assert.isTrue(ready)
        return broker
      }
      assert.strictEqual(yield* Effect.promise(readBroker), "away")

      const call = makeCaller(folder, base)
      const { received, url } = yield* receiver
      const { id: tenant } = yield* Effect.promise(() => call("/tenants", { name: "Harbour Works" }))
      const subscribe = (integration: object) =>
        Effect.promise(async () => {
          const { id } = await call("/integrations", integration, tenant)
          await call(`/integrations/${id}/subscriptions`, { eventType: "client.created" }, tenant)
          return id
        })
      yield* subscribe({ provider: "WEBHOOK", name: "Webhook", config: { url } })
      const stream = yield* subscribe({ provider: "NATS", name: "Stream" })
      const { id: client } = yield* Effect.promise(() => call("/clients", { name: "Northwind" }, tenant))

      yield* poll(
        async () => received.map(({ text }) => JSON.parse(text).data.id),
        (clients) => clients.includes(client)
      )
      const readStatus = async () => (await call(`/integrations/${stream}/deliveries`, undefined, tenant))[0]?.status
      assert.strictEqual(yield* Effect.promise(readStatus), "PENDING")

      yield* startNatsServer(join(folder, "jetstream"))
      yield* poll(readBroker, (broker) => broker === "connected")
      yield* poll(readStatus, (status) => status === "DELIVERED")
    }),
  120_000
)
