import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { connect, type NatsConnection } from "nats"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { findNatsProgram } from "../../../src/layers/local/nats/NatsPrograms.ts"
import { startNats } from "../../../src/layers/local/nats/NatsServer.ts"
import { projectRoot } from "../../../src/layers/local/ProjectRoot.ts"
import { Broker } from "../../../src/layers/nats/Broker.ts"
import { NatsSender } from "../../../src/layers/nats/NatsSender.ts"
import { temporaryFolder } from "../local/temporary.ts"

const example = (name: string) => readFileSync(join(projectRoot, "examples", "nats", name), "utf8")

// Neither is safe inside a URL as it stands.
const servicePassword = "s3rvice/@pass"

export const passwordOf = (integration: string) => `password of ${integration}`

export const accountOf = (integration: string) =>
  example("consumer.conf").replaceAll("<integration>", integration).replaceAll("<password>", passwordOf(integration))

/** The examples' configuration, filled in, without the folder that the command line names. */
const writeConfig = (folder: string, accounts: ReadonlyArray<string>) => {
  mkdirSync(folder, { recursive: true })
  const server = example("server.conf")
    .replace("<service password>", servicePassword)
    .replace(/store_dir: .*/, "")
  writeFileSync(join(folder, "server.conf"), server)
  writeFileSync(join(folder, "consumers.conf"), accounts.join("\n"))
  return join(folder, "server.conf")
}

/** A server as the examples configure it, which keeps its address when started again in the same folder. */
export const startIn = (folder: string, accounts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const configFile = writeConfig(join(folder, "config"), accounts)
    return yield* startNats({ folder: join(folder, "nats"), logFile: join(folder, "log"), program, configFile })
  })

export const startForConsumers = (...integrations: ReadonlyArray<string>) =>
  Effect.flatMap(temporaryFolder, (folder) => startIn(folder, integrations.map(accountOf)))

const withCredentials = (address: string) => {
  const url = new URL(address)
  url.username = "contracting"
  url.password = encodeURIComponent(servicePassword)
  return url.href
}

/** The sender of a service that knows a server at this address. */
export const senderAt = (address: string | undefined) => {
  const given = address === undefined ? {} : { NATS_URL: withCredentials(address) }
  const settings = Layer.effect(Settings, readSettings(given))
  const live = NatsSender.Default.pipe(Layer.provideMerge(Broker.Default), Layer.provideMerge(settings))
  return Effect.map(Layer.build(live), (context) => Effect.provide(context))
}

const connected = (open: () => Promise<NatsConnection>) =>
  Effect.acquireRelease(Effect.promise(open), (connection) => Effect.promise(() => connection.close()))

export const asService = (servers: string) =>
  connected(() => connect({ servers, user: "contracting", pass: servicePassword }))

export const asConsumer = (servers: string, integration: string) =>
  connected(() => connect({ servers, user: integration, pass: passwordOf(integration), maxReconnectAttempts: -1 }))

/** What a consumer has waiting, acknowledged, as it pulls it with nothing but its credentials. */
export const pulled = (connection: NatsConnection, integration: string, most = 10) =>
  Effect.tryPromise(async () => {
    const jetstream = connection.jetstream({ apiPrefix: "contracting.api" })
    const consumer = await jetstream.consumers.get("contracting-integrations", integration)
    const messages: Array<{ subject: string; id: string | undefined; type: string | undefined; body: string }> = []
    for await (const message of await consumer.fetch({ max_messages: most, expires: 1000 })) {
      const { headers, subject } = message
      messages.push({
        subject,
        id: headers?.get("webhook-id"),
        type: headers?.get("content-type"),
        body: message.string()
      })
      await message.ackAck()
    }
    return messages
  })
