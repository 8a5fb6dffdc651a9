import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, ManagedRuntime } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { inTransaction } from "../../../src/layers/infra/postgres/connection/Transactions.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { migrate } from "../../../src/layers/infra/postgres/Migrations.ts"
import { InboundProcessor } from "../../../src/layers/trackers/InboundProcessor.ts"
import { makeBatchLoader } from "../../../src/layers/trackers/intake/BatchLoader.ts"
import type { IssueRef } from "../../../src/layers/trackers/intake/IssueRef.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

describe("InboundProcessor", () => {
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
  const newJiraIntegration = async (tenant: string) => {
    const id = makeId("int")
    await pool.query(
      `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
         updated_at, sequence) values ($1, $2, 'JIRA', 'J', 'ACTIVE', true, '{}', '[]', now(), now(), 1)`,
      [tenant, id]
    )
    return id
  }

  /** Inserts pending webhooks of an issue, with bodies padded to these sizes. */
  const insertWebhooks = async (key: IssueRef, ...sizes: ReadonlyArray<number>) => {
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
  const insertIssues = async (tenant: TenantId, integration: string, count: number) => {
    const keys = Array.from({ length: count }, (_, n): IssueRef => ({ tenant, integration, issue: `${n + 1}` }))
    for (const key of keys) await insertWebhooks(key, 0)
    return keys
  }

  it("processes all issues except a failing one, and those of other tenants in one transaction", async () => {
    const [mine, other] = [await newTenant(), await newTenant()]
    const keys = [
      ...(await insertIssues(mine, await newJiraIntegration(mine), 9)),
      ...(await insertIssues(other, await newJiraIntegration(other), 9))
    ]
    await pool.query(`
      create function fail_insert() returns trigger language plpgsql as $$ begin raise 'poison'; end $$;
      create trigger fail_insert before insert on tracked_issues for each row
        when (new.tenant_id = '${mine}' and new.external_id = '5') execute function fail_insert()`)
    const { busy, left, results } = await runtime.runPromise(
      Effect.flatMap(InboundProcessor, ({ processIssues }) => processIssues(keys))
    )
    await pool.query("drop trigger fail_insert on tracked_issues")
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
    const countTransactions = async (tenant: string) => {
      const { rows } = await pool.query<{ count: number }>(
        "select count(distinct xmin::text)::int from inbound_webhooks where tenant_id = $1",
        [tenant]
      )
      return rows[0]?.count
    }
    assert.strictEqual(
      await countTransactions(other),
      1,
      "the webhooks of another tenant are processed in one transaction"
    )
    assert.isBelow((await countTransactions(mine)) ?? 9, 6, "most webhooks of the failing tenant share a transaction")
  })

  it("loads at most maxBytes, with the first webhook of each issue before the second of any", async () => {
    const tenant = await newTenant()
    const integration = await newJiraIntegration(tenant)
    const [large, small, other] = ["1", "2", "3"].map((issue): IssueRef => ({ tenant, integration, issue }))
    assert(large && small && other)
    await insertWebhooks(large, 40_000, 40_000, 40_000)
    await insertWebhooks(small, 1000, 1000)
    await insertWebhooks(other, 1000)
    const loadPending = (keys: ReadonlyArray<IssueRef>, maxBytes: number) =>
      runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          inTransaction(sql)(makeBatchLoader(sql, { maxWebhooks: 12, maxBytes }).loadPending(keys))
        )
      )
    const keys = [large, small, other]
    const { mayHaveMore, webhooks } = await loadPending(keys, 50_000)
    assert.deepStrictEqual(
      webhooks.map(({ body, place }) => `${place} ${body.length > 30_000 ? "large" : "small"}`),
      ["0 large", "1 small", "2 small"]
    )
    assert.deepStrictEqual(
      keys.map((_, place) => mayHaveMore(place)),
      [true, true, false]
    )
    assert.lengthOf((await loadPending(keys, 1)).webhooks, 1, "one webhook is always loaded")
    const all = await loadPending(keys, 1_000_000)
    assert.lengthOf(all.webhooks, 6)
    assert.deepStrictEqual(
      keys.map((_, place) => all.mayHaveMore(place)),
      [false, false, false]
    )
  })

  it("finds overdue issues of every tenant although one tenant has many", async () => {
    const [large, small] = [await newTenant(), await newTenant()]
    const integrations = [
      await newJiraIntegration(large),
      await newJiraIntegration(large),
      await newJiraIntegration(large)
    ]
    for (const integration of integrations) await insertIssues(large, integration, 20)
    await insertIssues(small, await newJiraIntegration(small), 2)
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
