import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, ManagedRuntime } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { Settings } from "../../../src/layers/config/Settings.ts"
import { inTransaction } from "../../../src/layers/postgres/connection/Transactions.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { migrate } from "../../../src/layers/postgres/Migrations.ts"
import { InboundProcessor } from "../../../src/layers/tracker/InboundProcessor.ts"
import { makeBatchLoader } from "../../../src/layers/tracker/intake/BatchLoader.ts"
import type { IssueRef } from "../../../src/layers/tracker/intake/IssueRef.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

describe("the intake of webhooks", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let pool: pg.Pool
  let runtime: ManagedRuntime.ManagedRuntime<SqlClient.SqlClient | Settings | InboundProcessor, unknown>
  beforeAll(async () => {
    database = await freshDatabase()
    pool = openPool(database.url)
    runtime = ManagedRuntime.make(Layer.provideMerge(InboundProcessor.Default, testLayers(database.url)))
    await runtime.runPromise(migrate)
  })
  afterAll(async () => {
    await runtime.dispose()
    await pool.end()
    await database.drop()
  })

  const newTenant = async () => {
    const id = TenantId.make(makeId("tnt"))
    await pool.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'T', now(), now(), 1)",
      [id]
    )
    return id
  }
  const newTracker = async (tenant: string) => {
    const id = makeId("int")
    await pool.query(
      `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
         updated_at, sequence) values ($1, $2, 'JIRA', 'J', 'ACTIVE', true, '{}', '[]', now(), now(), 1)`,
      [tenant, id]
    )
    return id
  }

  /** Webhooks that wait for an issue, with bodies filled up to so many characters. */
  const wait = async (key: IssueRef, ...sizes: ReadonlyArray<number>) => {
    for (const [n, size] of sizes.entries()) {
      const body = JSON.stringify(
        makeWebhookBody("updated", { id: key.issue, key: `A-${key.issue}`, timestamp: n + 1 })
      )
      await pool.query(
        `insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
           body, status, received_at)
         values ($1, $2, $3, $2, 'jira:issue_updated', $4, 'A-1', $5, rpad($6, $7::int), 'RECEIVED', now() - interval '1 minute')`,
        [key.tenant, makeId("whk"), key.integration, key.issue, n + 1, body, Math.max(size, body.length)]
      )
    }
  }
  const issuesIn = async (tenant: TenantId, integration: string, count: number) => {
    const keys = Array.from({ length: count }, (_, n): IssueRef => ({ tenant, integration, issue: `${n + 1}` }))
    for (const key of keys) await wait(key, 0)
    return keys
  }

  it("works everything but what fails, and others' at once", async () => {
    const [mine, other] = [await newTenant(), await newTenant()]
    const keys = [
      ...(await issuesIn(mine, await newTracker(mine), 9)),
      ...(await issuesIn(other, await newTracker(other), 9))
    ]
    await pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'poison'; end $$;
      create trigger refuse before insert on tracked_issues for each row
        when (new.tenant_id = '${mine}' and new.external_id = '5') execute function refuse()`)
    const { busy, left, results } = await runtime.runPromise(
      Effect.flatMap(InboundProcessor, ({ processIssues }) => processIssues(keys))
    )
    await pool.query("drop trigger refuse on tracked_issues")
    assert.deepStrictEqual([busy, left], [[], []])
    assert.deepStrictEqual(
      results.filter((result) => result !== "DONE"),
      ["RETRIED"]
    )
    assert.lengthOf(results, 18)
    const { rows } = await pool.query<{ status: string; issue_id: string; error: string | null }>(
      "select status, issue_id, error from inbound_webhooks where tenant_id = $1 and status <> 'DONE'",
      [mine]
    )
    assert.deepStrictEqual(rows, [{ status: "RECEIVED", issue_id: "5", error: "poison" }])
    const transactionsOf = async (tenant: string) => {
      const { rows } = await pool.query<{ count: number }>(
        "select count(distinct xmin::text)::int from inbound_webhooks where tenant_id = $1",
        [tenant]
      )
      return rows[0]?.count
    }
    assert.strictEqual(await transactionsOf(other), 1, "another tenant's are worked together")
    assert.isBelow((await transactionsOf(mine)) ?? 9, 6, "and so are most of its own")
  })

  it("takes no more bytes than fit, the first of every issue before the second of any", async () => {
    const tenant = await newTenant()
    const integration = await newTracker(tenant)
    const [large, small, other] = ["1", "2", "3"].map((issue): IssueRef => ({ tenant, integration, issue }))
    assert(large && small && other)
    await wait(large, 40_000, 40_000, 40_000)
    await wait(small, 1000, 1000)
    await wait(other, 1000)
    const taken = (keys: ReadonlyArray<IssueRef>, maxBytes: number) =>
      runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          inTransaction(sql)(makeBatchLoader(sql, { maxWebhooks: 12, maxBytes }).loadPending(keys))
        )
      )
    const keys = [large, small, other]
    const { mayHaveMore, webhooks } = await taken(keys, 50_000)
    assert.deepStrictEqual(
      webhooks.map(({ body, place }) => `${place} ${body.length > 30_000 ? "large" : "small"}`),
      ["0 large", "1 small", "2 small"]
    )
    assert.deepStrictEqual(
      keys.map((_, place) => mayHaveMore(place)),
      [true, true, false]
    )
    assert.lengthOf((await taken(keys, 1)).webhooks, 1, "one is always taken, however large")
    const all = await taken(keys, 1_000_000)
    assert.lengthOf(all.webhooks, 6)
    assert.deepStrictEqual(
      keys.map((_, place) => all.mayHaveMore(place)),
      [false, false, false]
    )
  })

  it("finds something of every tenant that waits, however much another has waiting", async () => {
    const [flooding, small] = [await newTenant(), await newTenant()]
    const trackers = [await newTracker(flooding), await newTracker(flooding), await newTracker(flooding)]
    for (const tracker of trackers) await issuesIn(flooding, tracker, 20)
    await issuesIn(small, await newTracker(small), 2)
    for (let round = 0; round < 5; round++) {
      const found = await runtime.runPromise(
        Effect.flatMap(InboundProcessor, ({ findOverdueIssues }) => findOverdueIssues(12))
      )
      assert.lengthOf(found, 12)
      assert.lengthOf(
        found.filter(({ tenant }) => tenant === small),
        2
      )
    }
  })
})
