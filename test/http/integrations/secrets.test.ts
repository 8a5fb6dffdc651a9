import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { dumpTables, findLeaks } from "../../support/assertions/leaks.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("The secret of an integration", () => {
  const fixture = useFixture(() => startServiceWithTenant())
  const integrations = () => integrationClient(fixture().service, fixture().tenant)

  const secretsOf = (id: string, tenant = fixture().tenant) =>
    Effect.flatMap(Integrations, (integrations) => integrations.secretsOf(TenantId.make(tenant), id)).pipe(
      Effect.provide(Integrations.Default.pipe(Layer.provideMerge(SqlLive))),
      Effect.provideService(Settings, fixture().service.settings),
      Effect.runPromise
    )
  const rotateSecret = async (id: string, body?: object) => {
    const response = await integrations().rotate(id, body)
    assert.strictEqual(response.status, 200, response.text)
    return String(response.body.data.secret)
  }

  it("consists of 32 random bytes", async () => {
    const secrets = [await integrations().mustCreate(), await integrations().mustCreate()].map(
      ({ secret = "" }) => secret
    )
    assert.lengthOf(new Set(secrets), 2)
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.lengthOf(Buffer.from(secret.slice("whsec_".length), "base64"), 32)
    }
  })

  it("is returned only once and stored nowhere in plain text", async () => {
    const headers = { "idempotency-key": "with-a-secret" }
    const body = { provider: "WEBHOOK", name: "Hook", config: { url: "http://127.0.0.1:9/once" } }
    const created = await integrations().create(body, headers)
    const { id, secret: first } = created.body.data
    const second = await rotateSecret(id)
    assert.strictEqual((await integrations().create(body, headers)).text, created.text)

    const laterResponses = [
      await integrations().get(id),
      await integrations().call("GET", ""),
      await integrations().patch(id, { name: "Other" }),
      await integrations().transition(id, "pause"),
      await integrations().transition(id, "resume"),
      await integrations().transition(id, "ping"),
      await integrations().subscribe(id, { eventType: "client.*" })
    ]
    const rows = await dumpTables(fixture().pool)
    assert.isTrue(
      rows.some((row) => row.includes("http://127.0.0.1:9/once")),
      "the dump contains the value of a field that is not secret"
    )
    const encoded = [first, second].map((secret) => secret.slice(6))
    const keys = encoded.map((text) => Buffer.from(text, "base64").toString("hex"))
    for (const text of [...rows, ...fixture().service.logs, ...laterResponses.map(({ text }) => text)])
      assert.deepStrictEqual(findLeaks(text, [...encoded, ...keys]), [], text)
    for (const { text } of laterResponses) assert.notInclude(text, "whsec_")
  })

  it("stays valid for 24 hours beside its replacement", async () => {
    const { id, secret: first = "" } = await integrations().mustCreate()
    assert.deepStrictEqual(await secretsOf(id), [first])
    const response = await integrations().rotate(id)
    const { secret: second, ...shown } = response.body.data
    assert.deepStrictEqual(await secretsOf(id), [second, first])
    assert.deepStrictEqual((await integrations().get(id)).body.data, shown)
    assert.strictEqual((await integrations().get(id)).headers.get("etag"), response.headers.get("etag"))
    const { rows } = await fixture().pool.query(
      `select generation, round(extract(epoch from expires_at - now()) / 3600)::int as hours
       from integration_secrets where integration_id = $1 order by generation`,
      [id]
    )
    assert.deepStrictEqual(rows, [
      { generation: 1, hours: 24 },
      { generation: 2, hours: null }
    ])
    assert.deepStrictEqual(
      (await eventsOf(fixture().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
  })

  it("does not change the expiry of secrets that were replaced before", async () => {
    const { id, secret: first = "" } = await integrations().mustCreate()
    const second = await rotateSecret(id, { overlapHours: 168 })
    const third = await rotateSecret(id, { overlapHours: 0 })
    assert.deepStrictEqual(await secretsOf(id), [third, first])
    assert.notInclude(await secretsOf(id), second)
    await fixture().pool.query(
      "update integration_secrets set expires_at = now() where integration_id = $1 and generation = 1",
      [id]
    )
    assert.deepStrictEqual(await secretsOf(id), [third])
    const fourth = await rotateSecret(id)
    assert.deepStrictEqual(await secretsOf(id), [fourth, third])
  })

  it("is rotated once for each of several concurrent requests", async () => {
    const { id } = await integrations().mustCreate()
    const secrets = await Promise.all(Array.from({ length: 6 }, () => rotateSecret(id)))
    const kept = await secretsOf(id)
    assert.lengthOf(kept, 7)
    assert.includeMembers([...kept], secrets)
  })

  it("cannot be read in another tenant or decrypted for another integration", async () => {
    const { id } = await integrations().mustCreate()
    const other = await integrations().mustCreate()
    assert.deepStrictEqual(await secretsOf(id, await fixture().service.newTenant()), [])
    await fixture().pool.query(
      `update integration_secrets set sealed = (select sealed from integration_secrets where integration_id = $1)
       where integration_id = $2`,
      [other.id, id]
    )
    const decrypted = await secretsOf(id).catch(() => "not decrypted")
    assert.strictEqual(decrypted, "not decrypted")
  })

  it("is rotated with an overlap of 0 to 168 hours, and never for NATS", async () => {
    const { id } = await integrations().mustCreate()
    assertValidationError(await integrations().rotate(id, { overlapHours: -1 }), [
      "overlapHours",
      "min",
      "must be at least 0"
    ])
    assertValidationError(await integrations().rotate(id, { overlapHours: 169 }), [
      "overlapHours",
      "max",
      "must be at most 168"
    ])
    assertValidationError(await integrations().rotate(id, { overlapHours: 1.5 }), [
      "overlapHours",
      "type",
      "must be an integer"
    ])
    const nats = await integrations().mustCreate(minimalNats)
    assertValidationError(await integrations().rotate(nats.id), [
      "provider",
      "state",
      "is NATS, which has no secret to rotate"
    ])
  })
})
