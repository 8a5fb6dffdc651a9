import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import type { EventPattern } from "../../../src/domain/events/EventCatalogue.ts"
import { CurrentTenant } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Events } from "../../../src/layers/events/Events.ts"
import { assignFeedPositions } from "../../support/fixtures/integrationRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("Events", () => {
  const at = useFixture(() => startServiceWithPool({}))

  const eventsOf = async (resource: string) => {
    const { rows } = await at().pool.query(
      `select type, tenant_id, client_id, sequence, data::text as text from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }

  it("record every write with the resource as in the API response and a sequence per resource", async () => {
    const tenant = await at().service.newTenant()
    const as = { as: "owner", tenant }
    const created = await at().service.api("POST", "/clients", { ...as, body: { order: 1, name: "Client" } })
    const path = `/clients/${created.body.data.id}`
    const changed = await at().service.api("PATCH", path, { ...as, body: { description: "more", order: null } })
    await at().service.api("DELETE", path, as)
    const events = await eventsOf(created.body.data.id)
    assert.deepStrictEqual(
      events.map(({ client_id, sequence, tenant_id, type }) => [type, sequence, tenant_id, client_id]),
      ["created", "updated", "deleted"].map((action, n) => [`client.${action}`, n + 1, tenant, created.body.data.id])
    )
    const responses = [created, changed, changed].map(({ text }) => text.slice('{"data":'.length, -1))
    assert.deepStrictEqual(
      events.map(({ text }) => text),
      responses
    )
  })

  it("are not recorded for rejected writes", async () => {
    const tenant = await at().service.newTenant()
    const { rows: before } = await at().pool.query("select count(*)::int as n from events where tenant_id = $1", [
      tenant
    ])
    await at().service.api("POST", "/members", { as: "owner", tenant, body: { subject: "owner", role: "VIEWER" } })
    await at().service.api("PATCH", "/clients/clnt_none", { as: "owner", tenant, body: { name: "x" } })
    const { rows: after } = await at().pool.query("select count(*)::int as n from events where tenant_id = $1", [
      tenant
    ])
    assert.deepStrictEqual(after, before)
  })

  it("have a gapless sequence when a resource is updated concurrently", async () => {
    const tenant = await at().service.newTenant()
    const as = { as: "owner", tenant }
    const { body } = await at().service.api("POST", "/clients", { ...as, body: { name: "Busy" } })
    const writes = Array.from({ length: 30 }, (_, n) =>
      at().service.api("PATCH", `/clients/${body.data.id}`, { ...as, body: { order: n } })
    )
    assert.deepStrictEqual(new Set((await Promise.all(writes)).map(({ status }) => status)), new Set([200]))
    const events = await eventsOf(body.data.id)
    assert.deepStrictEqual(
      events.map(({ sequence }) => sequence),
      Array.from({ length: writes.length + 1 }, (_, n) => n + 1)
    )
    const { body: now } = await at().service.api("GET", `/clients/${body.data.id}`, as)
    assert.deepStrictEqual(JSON.parse(events.at(-1)?.text), now.data)
  })

  /** Reads a page of the feed and counts the rows read from `events` and `event_feed`. */
  const readPage = (tenant: string, type: EventPattern, limit: number) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const readAndCount = Effect.gen(function* () {
        const { events: page } = yield* events.feed({ type, limit })
        const [{ rows } = { rows: 0 }] = yield* sql<{ rows: number }>`
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
          where relname in ('events', 'event_feed')`
        return { rows, page: JSON.parse(page.text) as ReadonlyArray<unknown> } // an array, as every page
      })
      return yield* sql.withTransaction(readAndCount)
    }).pipe(
      Effect.provideService(CurrentTenant, TenantId.make(tenant)),
      Effect.provide(Events.Default.pipe(Layer.provideMerge(testLayers(at().service.database.url)))),
      Effect.runPromise
    )

  it("of one type or one resource are read in a number of rows that depends on the page only", async () => {
    const tenant = await at().service.newTenant()
    const insertEvents = (type: string, count: number) =>
      at().pool.query(
        `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
         select $1, 'evt_' || md5($2 || n), $2, 'clnt_' || md5($2 || n), 1, now(), '{}' from generate_series(1, $3) n`,
        [tenant, type, count]
      )
    await insertEvents("address.updated", 10)
    await insertEvents("client.updated", 5_000)
    await insertEvents("address.created", 10)
    await assignFeedPositions(at().pool, tenant)
    for (const analyzed of [false, true]) {
      if (analyzed) await at().pool.query("analyze events, event_feed")
      for (const [type, length] of [
        ["address.created", 5],
        ["address.*", 5],
        ["address.deleted", 0],
        ["contact.*", 0],
        ["client.updated", 5]
      ] as const) {
        const { page, rows } = await readPage(tenant, type, 5)
        assert.lengthOf(page, length, type)
        assert.isAtMost(rows, 30, `${type} ${analyzed ? "with" : "without"} statistics`)
      }
    }
  })
})
