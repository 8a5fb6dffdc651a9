import { randomBytes } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { checkKeys } from "../../../../src/layers/infra/keys/KeyCheck.ts"
import { reseal } from "../../../../src/layers/infra/keys/Reseal.ts"
import { readSealed } from "../../../../src/layers/infra/keys/SealedRows.ts"
import { sealedColumns } from "../../../../src/layers/infra/secrets/SealedColumns.ts"
import { Secrets } from "../../../../src/layers/infra/secrets/Secrets.ts"
import { insertAuthorizedIntegration, insertGrant } from "../../../support/fixtures/grantRows.ts"
import { invoiceClient } from "../../../support/fixtures/invoices.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { migratedDatabase, openPool } from "../../../support/servers/database.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { startService } from "../../../support/servers/service.ts"

const makeKey = () => randomBytes(32).toString("base64")

/** Bytes that are no secrets. */
const plainColumns = new Set([
  "blob_chunks.bytes",
  "idempotency_keys.fingerprint",
  "invoice_links.token_hash",
  "oauth_states.hash",
  "pending_grants.hash",
  "tracker_webhooks.key_hash",
  "webhook_endpoints.key_hash"
])

/** Runs a program with these keys, the newest first. */
const withKeys = <A, E>(
  databaseUrl: string,
  keys: ReadonlyArray<string>,
  program: Effect.Effect<A, E, SqlClient.SqlClient | Secrets>
) => {
  const settings = testLayers(databaseUrl, { SECRETS_KEY: keys.join(",") })
  return Effect.runPromise(program.pipe(Effect.provide(Layer.provideMerge(Secrets.Default, settings)), Effect.scoped))
}

const messageOf = (databaseUrl: string, keys: ReadonlyArray<string>) =>
  withKeys(
    databaseUrl,
    keys,
    Effect.match(checkKeys, { onFailure: (error) => error.message, onSuccess: () => "accepted" })
  )

/** Decrypts every secret. Returns how many there are per column. */
const openAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { open } = yield* Secrets
  const counts: Record<string, number> = {}
  for (const column of sealedColumns) {
    const rows = yield* readSealed(sql, column, undefined, 10_000)
    for (const { row, sealed } of rows) open(column.associatedDataOf(row), sealed)
    counts[`${column.table}.${column.column}`] = rows.length
  }
  return counts
})

const startWithKeys = async () => {
  const [older, newer] = [makeKey(), makeKey()]
  const service = await startService({
    SECRETS_KEY: `${older},${newer}`,
    PUBLIC_URL: "https://api.example.com",
    JIRA_CLIENT_ID: "id",
    JIRA_CLIENT_SECRET: "secret",
    OAUTH_TRUSTED_ORIGINS: "https://app.example.com"
  })
  const pool = openPool(service.database.url)
  const stop = async () => {
    await pool.end()
    await service.stop()
  }
  return { service, pool, older, newer, url: service.database.url, stop }
}

describe("Keys for secrets", () => {
  const at = useFixture(startWithKeys)

  it("know every column with encrypted bytes", async () => {
    const { rows } = await at().pool.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea'`
    )
    const known = sealedColumns.map(({ column, table }) => `${table}.${column}`)
    assert.sameMembers(
      rows.map(({ name }) => name).filter((name) => !plainColumns.has(name)),
      known
    )
  })

  it("are replaced by reseal while requests create and read secrets", async () => {
    const { newer, older, pool, service, url } = at()
    const tenant = await service.newTenant()
    const as = { as: "owner", tenant }
    assert.strictEqual(await messageOf(url, [older, newer]), "accepted")
    const integration = await insertAuthorizedIntegration(pool, tenant, { provider: "GOOGLE_DRIVE" })
    await insertGrant(service, pool, { tenant, integration, token: "access", refresh: "refresh" })

    const createJira = async (n: number) => {
      const headers = { "idempotency-key": `key-${n}` }
      const body = { provider: "JIRA", name: `Jira ${n}`, config: { jql: "project = A" } }
      const created = await service.api("POST", "/integrations", { ...as, body, headers })
      assert.strictEqual(created.status, 201, JSON.stringify(created.body))
      const id = String(created.body.data.id)
      const started = await service.api("POST", `/integrations/${id}/authorize`, {
        ...as,
        body: { origin: "https://app.example.com" }
      })
      assert.strictEqual(started.status, 200, JSON.stringify(started.body))
      const repeated = await service.api("POST", "/integrations", { ...as, body, headers })
      assert.strictEqual(repeated.body.data.id, id)
    }
    for (let n = 0; n < 5; n++) await createJira(n)
    const invoices = invoiceClient(service, tenant)
    const { id: invoice } = await invoices.invoiceIn("FINALIZED")
    const linkOf = async () => (await invoices.call("GET", `/invoices/${invoice}/link`)).body.data.url
    const link = await linkOf()
    const [moved] = await Promise.all([
      withKeys(url, [newer, older], reseal),
      ...Array.from({ length: 10 }, (_, n) => createJira(100 + n))
    ])
    assert.isAtLeast(
      moved.results.reduce((sum, result) => sum + result.moved, 0),
      10
    )

    await withKeys(url, [newer, older], reseal)
    const counts = await withKeys(url, [newer], openAll)
    assert.include(counts, { "grants.access": 1, "grants.refresh": 1, "webhook_endpoints.sealed": 15 })
    assert.include(counts, { "invoice_links.sealed": 1 })
    assert.strictEqual(await linkOf(), link)
    assert.strictEqual(await messageOf(url, [newer]), "accepted")
    await createJira(0)
  })
})

describe("A process", () => {
  const at = useFixture(async () => {
    const fixture = await startWithKeys()
    const tenant = await fixture.service.newTenant()
    const integration = await insertAuthorizedIntegration(fixture.pool, tenant, { provider: "GOOGLE_DRIVE" })
    await insertGrant(fixture.service, fixture.pool, { tenant, integration, token: "access" })
    return fixture
  })

  it("does not start with another key than the one of the database", async () => {
    const database = await migratedDatabase()
    try {
      const [first, second] = [makeKey(), makeKey()]
      assert.strictEqual(await messageOf(database.url, [first]), "accepted")
      const refused = await messageOf(database.url, [second])
      assert.include(refused, "SECRETS_KEY lacks a key")
      assert.notInclude(refused, second)
      assert.strictEqual(await messageOf(database.url, [second, first]), "accepted")
      assert.include(await messageOf(database.url, [first]), "SECRETS_KEY lacks a key")
    } finally {
      await database.drop()
    }
  })

  it("does not start with a wrong key on a database whose release did not register keys", async () => {
    const { newer, older, pool, url } = at()
    await pool.query("delete from secret_keys")
    assert.include(await messageOf(url, [makeKey()]), "SECRETS_KEY lacks a key")
    assert.strictEqual(await messageOf(url, [newer, older]), "accepted")
  })
})
