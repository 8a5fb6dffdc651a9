import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { eventsOf, setStatus } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const statuses = ["PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR"] as const

const transitions = {
  pause: {
    from: ["ACTIVE"],
    to: "PAUSED",
    event: "integration.paused",
    rule: "only an integration that is ACTIVE can become PAUSED"
  },
  resume: {
    from: ["PAUSED", "ERROR"],
    to: "ACTIVE",
    event: "integration.resumed",
    rule: "only an integration that is PAUSED or ERROR can become ACTIVE"
  }
} as const

describe("An integration", () => {
  const fixture = useFixture(startServiceWithTenant)
  const integrations = () => integrationClient(fixture().service, fixture().tenant)

  /** Runs code of a worker in this process. */
  const runAsWorker = <A>(work: (integrations: Integrations) => Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
    Effect.flatMap(Integrations, work).pipe(
      Effect.provide(Integrations.Default.pipe(Layer.provideMerge(SqlLive))),
      Effect.provideService(Settings, fixture().service.settings),
      Effect.runPromise
    )
  const failIntegration = (id: string, reason = "The endpoint answered 410") =>
    runAsWorker((integrations) => integrations.fail(TenantId.make(fixture().tenant), id, reason))

  for (const [move, { event, from, rule, to }] of Object.entries(transitions)) {
    for (const status of statuses) {
      const isAllowed = (from as ReadonlyArray<string>).includes(status)
      it(`${isAllowed ? `changes from ${status} to ${to}` : `stays ${status}`} after POST ${move}`, async () => {
        const { id } = await integrations().mustCreate(minimalNats)
        await setStatus(fixture().pool, id, status)
        const before = (await integrations().get(id)).text
        const response = await integrations().transition(id, move)
        const types = (await eventsOf(fixture().pool, id)).map(({ type }) => type)
        if (isAllowed) {
          assert.deepStrictEqual([response.status, response.body.data.status], [200, to])
          assert.deepStrictEqual(types, ["integration.created", event])
        } else {
          assertValidationError(response, ["status", "state", `is ${status}; ${rule}`])
          assert.deepStrictEqual(types, ["integration.created"])
          assert.strictEqual((await integrations().get(id)).text, before)
        }
      })
    }
  }

  for (const status of statuses) {
    const change = status === "ACTIVE" ? "changes from ACTIVE to ERROR" : `stays ${status}`
    it(`${change} when a worker reports a failure`, async () => {
      const { id } = await integrations().mustCreate(minimalNats)
      await setStatus(fixture().pool, id, status)
      await failIntegration(id)
      const { body } = await integrations().get(id)
      const types = (await eventsOf(fixture().pool, id)).map(({ type }) => type)
      if (status === "ACTIVE") {
        assert.deepInclude(body.data, { status: "ERROR", statusReason: "The endpoint answered 410" })
        assert.deepStrictEqual(types, ["integration.created", "integration.error"])
      } else {
        assert.deepStrictEqual([body.data.status, types], [status, ["integration.created"]])
      }
    })
  }

  it("records no event when a worker reports a failure after the deletion", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    await integrations().remove(id)
    await failIntegration(id)
    assert.lengthOf(await eventsOf(fixture().pool, id), 2)
  })

  it("has neither statusReason nor failing_since after resume", async () => {
    const { id } = await integrations().mustCreate()
    await fixture().pool.query("update integrations set failing_since = now() where id = $1", [id])
    await failIntegration(id)
    const { body } = await integrations().transition(id, "resume")
    assert.strictEqual(body.data.status, "ACTIVE")
    assert.notProperty(body.data, "statusReason")
    const { rows } = await fixture().pool.query("select status_reason, failing_since from integrations where id = $1", [
      id
    ])
    assert.deepStrictEqual(rows, [{ status_reason: null, failing_since: null }])
  })

  it("changes its status once in concurrent requests", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const responses = await Promise.all(Array.from({ length: 8 }, () => integrations().transition(id, "pause")))
    assert.lengthOf(
      responses.filter(({ status }) => status === 200),
      1
    )
    assert.deepStrictEqual(
      (await eventsOf(fixture().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.paused"]
    )
  })

  it("changes its status once when several workers report a failure concurrently", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    await Promise.all(Array.from({ length: 4 }, (_, n) => failIntegration(id, `Reason ${n}`)))
    assert.deepStrictEqual(
      (await eventsOf(fixture().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.error"]
    )
  })

  it("keeps its version and status after a ping", async () => {
    const { id } = await integrations().mustCreate()
    const before = await integrations().get(id)
    const { body, status } = await integrations().transition(id, "ping")
    assert.strictEqual(status, 200)
    assert.deepInclude(body.data, {
      type: "integration.ping",
      tenant: fixture().tenant,
      sequence: 2,
      data: before.body.data
    })
    assert.strictEqual((await integrations().get(id)).headers.get("etag"), before.headers.get("etag"))
    assert.strictEqual((await integrations().transition(id, "pause")).status, 200)
    assert.deepStrictEqual(
      (await eventsOf(fixture().pool, id)).map(({ sequence }) => sequence),
      [1, 2, 3]
    )
  })

  const setProvider = (id: string, provider: string) =>
    fixture().pool.query("update integrations set provider = $2 where id = $1", [id, provider])

  it.each(["JIRA", "GOOGLE_DRIVE"])("of %s cannot be pinged", async (provider) => {
    const { id } = await integrations().mustCreate(minimalNats)
    await setProvider(id, provider)
    assertValidationError(await integrations().transition(id, "ping"), [
      "provider",
      "state",
      `is ${provider}; only WEBHOOK and NATS integrations can be pinged`
    ])
  })

  it("of GOOGLE_DRIVE has no secret to rotate", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    await setProvider(id, "GOOGLE_DRIVE")
    assertValidationError(await integrations().rotate(id), [
      "provider",
      "state",
      "is GOOGLE_DRIVE, which has no secret to rotate"
    ])
  })
})
