import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, ManagedRuntime } from "effect"
import { AttemptResults } from "../../../src/layers/delivery/AttemptResults.ts"
import { Claims } from "../../../src/layers/delivery/Claims.ts"
import { FanOut } from "../../../src/layers/delivery/FanOut.ts"
import { Outbox } from "../../../src/layers/delivery/Outbox.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { migrate } from "../../../src/layers/infra/postgres/Migrations.ts"
import { migratedDatabase, openPool } from "./database.ts"
import { testLayers } from "./layers.ts"

/** A database with the services that deliver events, and no worker. */
export const openDeliveryDatabase = async (settings: Readonly<Record<string, string>> = {}) => {
  const database = await migratedDatabase()
  const sql = openPool(database.url)
  const live = Layer.mergeAll(Outbox.Default, FanOut.Default, Claims.Default, AttemptResults.Default).pipe(
    Layer.provideMerge(testLayers(database.url, settings))
  )
  const runtime = ManagedRuntime.make(live)
  await runtime.runPromise(migrate)
  const services = await runtime.runPromise(
    Effect.all({ outbox: Outbox, fanOut: FanOut, claims: Claims, attemptResults: AttemptResults })
  )
  const run = <A, E>(effect: Effect.Effect<A, E>) => runtime.runPromise(effect)
  /** Runs an effect that needs the SQL client. */
  const runIn = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => runtime.runPromise(effect)
  const stamps = "now(), now(), 1"

  const newTenant = async () => {
    const id = makeId("tnt")
    await sql.query(`insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'T', ${stamps})`, [
      id
    ])
    return id
  }

  /** An integration with a subscription to all events of clients. */
  const newIntegration = async (tenant: string, { provider = "WEBHOOK", status = "ACTIVE" } = {}) => {
    const id = makeId("int")
    await sql.query(
      `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions,
         created_at, updated_at, sequence) values ($1, $2, $3, 'I', $4, true, '{"url":"http://127.0.0.1"}', '[]', ${stamps})`,
      [tenant, id, provider, status]
    )
    await sql.query(
      `insert into subscriptions (tenant_id, id, integration_id, event_type, scope_key)
       values ($1, $2, $3, 'client.*', 'tenant')`,
      [tenant, makeId("sub"), id]
    )
    return id
  }

  const newEvent = async (tenant: string, resource: string, sequence: number, type = "client.updated") => {
    const id = makeId("evt")
    await sql.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       values ($1, $2, $3, $4, $5, now(), $6)`,
      [tenant, id, type, resource, sequence, JSON.stringify({ id: resource, n: sequence })]
    )
    return id
  }

  const close = async () => {
    await runtime.dispose()
    await sql.end()
    await database.drop()
  }
  return { ...services, run, runIn, sql, newTenant, newIntegration, newEvent, close }
}

export type DeliveryDatabase = Awaited<ReturnType<typeof openDeliveryDatabase>>
