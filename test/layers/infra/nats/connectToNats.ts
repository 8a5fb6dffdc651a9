import { Effect, Layer, Schedule } from "effect"
import type { NatsConnection } from "nats"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { Broker } from "../../../../src/layers/infra/nats/Broker.ts"
import { MetricsRegistry } from "../../../../src/layers/infra/telemetry/MetricsRegistry.ts"
import { captureLogs } from "../../../support/servers/logCapture.ts"

/** Connects as the service does, and reads something from the connection unless it is refused. */
export const connectToNats = <A>(
  environment: Readonly<Record<string, string>>,
  read: (connection: NatsConnection) => A
) => {
  const logs: Array<string> = []
  return Effect.gen(function* () {
    const broker = yield* Broker
    const isRefused = () => logs.some((line) => line.includes("NATS is not available"))
    const retries = { while: () => !isRefused(), schedule: Schedule.spaced("20 millis") }
    const opened = yield* Effect.option(Effect.retry(broker.connection, retries))
    const { registry } = yield* MetricsRegistry
    const metrics = yield* Effect.promise(() => registry.metrics())
    return { value: opened._tag === "Some" ? read(opened.value) : undefined, logs, metrics }
  }).pipe(
    Effect.provide(Layer.provideMerge(Layer.merge(Broker.Default, MetricsRegistry.Default), captureLogs(logs))),
    Effect.provideServiceEffect(Settings, readSettings(environment)),
    Effect.runPromise
  )
}
