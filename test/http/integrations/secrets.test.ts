import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Settings } from "../../../src/layers/config/Settings.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { SqlLive } from "../../../src/layers/postgres/connection/PostgresClient.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { dumpTables, findLeaks } from "../../support/assertions/leaks.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("the secret of an integration", () => {
  const at = useFixture(startServiceWithTenant)
  const ours = () => integrationClient(at().service, at().tenant)

  const secretsOf = (id: string, home = at().tenant) =>
    Effect.flatMap(Integrations, (integrations) => integrations.secretsOf(TenantId.make(home), id)).pipe(
      Effect.provide(Integrations.Default.pipe(Layer.provideMerge(SqlLive))),
      Effect.provideService(Settings, at().service.settings),
      Effect.runPromise
    )
  const rotated = async (id: string, body?: object) => {
    const answer = await ours().rotate(id, body)
    assert.strictEqual(answer.status, 200, answer.text)
    return String(answer.body.data.secret)
  }
  it("is 32 bytes of chance, another each time", async () => {
    const secrets = [await ours().made(), await ours().made()].map(({ secret = "" }) => secret)
    assert.lengthOf(new Set(secrets), 2)
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.lengthOf(Buffer.from(secret.slice("whsec_".length), "base64"), 32)
    }
  })

  it("is shown once and lies nowhere in the clear", async () => {
    const headers = { "idempotency-key": "with-a-secret" }
    const body = { provider: "WEBHOOK", name: "Hook", config: { url: "http://127.0.0.1:9/once" } }
    const created = await ours().create(body, headers)
    const { id, secret: first } = created.body.data
    const second = await rotated(id)
    assert.strictEqual((await ours().create(body, headers)).text, created.text)

    const later = [
      await ours().get(id),
      await ours().call("GET", ""),
      await ours().patch(id, { name: "Other" }),
      await ours().move(id, "pause"),
      await ours().move(id, "resume"),
      await ours().move(id, "ping"),
      await ours().subscribe(id, { eventType: "client.*" })
    ]
    const kept = await dumpTables(at().pool)
    assert.isTrue(
      kept.some((row) => row.includes("http://127.0.0.1:9/once")),
      "what is kept can be searched"
    )
    const bare = [first, second].map((secret) => secret.slice(6))
    const keys = bare.map((text) => Buffer.from(text, "base64").toString("hex"))
    for (const place of [...kept, ...at().service.logs, ...later.map(({ text }) => text)])
      assert.deepStrictEqual(findLeaks(place, [...bare, ...keys]), [], place)
    for (const { text } of later) assert.notInclude(text, "whsec_")
  })

  it("is replaced by a new one, and signs beside it for a day", async () => {
    const { id, secret: first = "" } = await ours().made()
    assert.deepStrictEqual(await secretsOf(id), [first])
    const answer = await ours().rotate(id)
    const { secret: second, ...shown } = answer.body.data
    assert.deepStrictEqual(await secretsOf(id), [second, first])
    assert.deepStrictEqual((await ours().get(id)).body.data, shown)
    assert.strictEqual((await ours().get(id)).headers.get("etag"), answer.headers.get("etag"))
    const { rows } = await at().pool.query(
      `select generation, round(extract(epoch from expires_at - now()) / 3600)::int as hours
       from integration_secrets where integration_id = $1 order by generation`,
      [id]
    )
    assert.deepStrictEqual(rows, [
      { generation: 1, hours: 24 },
      { generation: 2, hours: null }
    ])
    assert.deepStrictEqual(
      (await eventsOf(at().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
  })

  it("leaves those that were replaced earlier the time they have", async () => {
    const { id, secret: first = "" } = await ours().made()
    const second = await rotated(id, { overlapHours: 168 })
    const third = await rotated(id, { overlapHours: 0 })
    assert.deepStrictEqual(await secretsOf(id), [third, first])
    assert.notInclude(await secretsOf(id), second)
    await at().pool.query(
      "update integration_secrets set expires_at = now() where integration_id = $1 and generation = 1",
      [id]
    )
    assert.deepStrictEqual(await secretsOf(id), [third])
    const fourth = await rotated(id)
    assert.deepStrictEqual(await secretsOf(id), [fourth, third])
  })

  it("is rotated by one after the other, however many ask at once", async () => {
    const { id } = await ours().made()
    const secrets = await Promise.all(Array.from({ length: 6 }, () => rotated(id)))
    const kept = await secretsOf(id)
    assert.lengthOf(kept, 7)
    assert.includeMembers([...kept], secrets)
  })

  it("is for its own tenant and integration alone", async () => {
    const { id } = await ours().made()
    const other = await ours().made()
    assert.deepStrictEqual(await secretsOf(id, await at().service.newTenant()), [])
    await at().pool.query(
      `update integration_secrets set sealed = (select sealed from integration_secrets where integration_id = $1)
       where integration_id = $2`,
      [other.id, id]
    )
    const opened = await secretsOf(id).catch(() => "does not open")
    assert.strictEqual(opened, "does not open")
  })

  it("overlaps for 0 to 168 hours, and not at all where nothing is signed", async () => {
    const { id } = await ours().made()
    assertValidationError(await ours().rotate(id, { overlapHours: -1 }), ["overlapHours", "min", "must be at least 0"])
    assertValidationError(await ours().rotate(id, { overlapHours: 169 }), [
      "overlapHours",
      "max",
      "must be at most 168"
    ])
    assertValidationError(await ours().rotate(id, { overlapHours: 1.5 }), [
      "overlapHours",
      "type",
      "must be an integer"
    ])
    const nats = await ours().made(minimalNats)
    assertValidationError(await ours().rotate(nats.id), ["provider", "state", "is NATS, which has no secret"])
  })
})
