import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Logger } from "effect"
import { connect, type NatsConnection } from "nats"
import { assert } from "vitest"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { Broker } from "../../../../src/layers/infra/nats/Broker.ts"
import { NatsSender } from "../../../../src/layers/infra/nats/NatsSender.ts"
import { findNatsProgram } from "../../../../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../../../../tools/local/nats/NatsServer.ts"
import { projectRoot } from "../../../../tools/local/ProjectRoot.ts"
import { temporaryFolder } from "../../../tools/local/temporary.ts"

const example = (name: string) => readFileSync(join(projectRoot, "examples", "nats", name), "utf8")

// Must be percent-encoded in a URL.
const servicePassword = "s3rvice/@pass"

export const passwordOf = (integration: string) => `password of ${integration}`

export const accountOf = (integration: string) =>
  example("consumer.conf").replaceAll("<integration>", integration).replaceAll("<password>", passwordOf(integration))

/** Fills in the example configuration. The command line names the store folder. */
const writeConfig = (folder: string, accounts: ReadonlyArray<string>) => {
  mkdirSync(folder, { recursive: true })
  const server = example("server.conf")
    .replace("<service password>", servicePassword)
    .replace(/store_dir: .*/, "")
  writeFileSync(join(folder, "server.conf"), server)
  writeFileSync(join(folder, "consumers.conf"), accounts.join("\n"))
  return join(folder, "server.conf")
}

/** Starts a server with the example configuration. It keeps its address when it is started again in the same folder. */
export const startServerIn = (folder: string, accounts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const configFile = writeConfig(join(folder, "config"), accounts)
    return yield* startNats({ folder: join(folder, "nats"), logFile: join(folder, "log"), program, configFile })
  })

export const startServerFor = (...integrations: ReadonlyArray<string>) =>
  Effect.flatMap(temporaryFolder, (folder) => startServerIn(folder, integrations.map(accountOf)))

const withCredentials = (address: string) => {
  const url = new URL(address)
  url.username = "contracting"
  url.password = encodeURIComponent(servicePassword)
  return url.href
}

/** Builds a `NatsSender` for the server at this address, and returns a function that provides it. */
export const makeSender = (address: string | undefined, more: Readonly<Record<string, string>> = {}) => {
  const environment = address === undefined ? {} : { NATS_URL: withCredentials(address) }
  const settings = Layer.effect(Settings, readSettings({ ...environment, ...more }))
  const live = NatsSender.Default.pipe(
    Layer.provideMerge(Broker.Default),
    Layer.provideMerge(settings),
    Layer.provide(Logger.remove(Logger.defaultLogger))
  )
  return Effect.map(Layer.build(live), (context) => Effect.provide(context))
}

const acquireConnection = (open: () => Promise<NatsConnection>) =>
  Effect.acquireRelease(Effect.promise(open), (connection) => Effect.promise(() => connection.close()))

export const connectAsService = (servers: string) =>
  acquireConnection(() => connect({ servers, user: "contracting", pass: servicePassword }))

export const connectAsConsumer = (servers: string, integration: string) =>
  acquireConnection(() =>
    connect({ servers, user: integration, pass: passwordOf(integration), maxReconnectAttempts: -1 })
  )

/** Pulls and acknowledges so many messages with the credentials of a consumer; fails if even more are pending. */
export const pullMessages = (connection: NatsConnection, integration: string, count: number) =>
  Effect.tryPromise(async () => {
    const jetstream = connection.jetstream({ apiPrefix: "contracting.api" })
    const consumer = await jetstream.consumers.get("contracting-integrations", integration)
    const messages: Array<{ subject: string; id: string | undefined; type: string | undefined; body: string }> = []
    for await (const message of await consumer.fetch({ max_messages: count, expires: 5000 })) {
      const { headers, subject } = message
      messages.push({
        subject,
        id: headers?.get("webhook-id"),
        type: headers?.get("content-type"),
        body: message.string()
      })
      await message.ackAck()
    }
    assert.strictEqual((await consumer.info()).num_pending, 0, "more messages are pending")
    return messages
  })
