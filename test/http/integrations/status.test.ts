import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Settings } from "../../../src/layers/config/Settings.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { SqlLive } from "../../../src/layers/postgres/connection/PostgresClient.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { eventsOf, setStatus } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const statuses = ["PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR"] as const

const moves = {
  pause: { from: ["ACTIVE"], to: "PAUSED", event: "integration.paused", rule: "only ACTIVE can become PAUSED" },
  resume: {
    from: ["PAUSED", "ERROR"],
    to: "ACTIVE",
    event: "integration.resumed",
    rule: "only PAUSED or ERROR can become ACTIVE"
  }
} as const

describe("the status of an integration", () => {
  const at = useFixture(startServiceWithTenant)
  const ours = () => integrationClient(at().service, at().tenant)

  /** What a worker does, beside the service. */
  const asWorker = <A>(work: (integrations: Integrations) => Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
    Effect.flatMap(Integrations, work).pipe(
      Effect.provide(Integrations.Default.pipe(Layer.provideMerge(SqlLive))),
      Effect.provideService(Settings, at().service.settings),
      Effect.runPromise
    )
  const fail = (id: string, reason = "The endpoint answered 410") =>
    asWorker((integrations) => integrations.fail(TenantId.make(at().tenant), id, reason))

  for (const [move, { event, from, rule, to }] of Object.entries(moves)) {
    for (const status of statuses) {
      const isLegal = (from as ReadonlyArray<string>).includes(status)
      it(`${isLegal ? `becomes ${to}` : "stays"} by ${move} of one that is ${status}`, async () => {
        const { id } = await ours().made(minimalNats)
        await setStatus(at().pool, id, status)
        const before = (await ours().get(id)).text
        const answer = await ours().move(id, move)
        const types = (await eventsOf(at().pool, id)).map(({ type }) => type)
        if (isLegal) {
          assert.deepStrictEqual([answer.status, answer.body.data.status], [200, to])
          assert.deepStrictEqual(types, ["integration.created", event])
        } else {
          assertValidationError(answer, ["status", "state", `is ${status}; ${rule}`])
          assert.deepStrictEqual(types, ["integration.created"])
          assert.strictEqual((await ours().get(id)).text, before)
        }
      })
    }
  }

  for (const status of statuses) {
    it(`that is ${status} ${status === "ACTIVE" ? "becomes ERROR" : "stays"} when a worker gives up`, async () => {
      const { id } = await ours().made(minimalNats)
      await setStatus(at().pool, id, status)
      await fail(id)
      const { body } = await ours().get(id)
      const types = (await eventsOf(at().pool, id)).map(({ type }) => type)
      if (status === "ACTIVE") {
        assert.deepInclude(body.data, { status: "ERROR", statusReason: "The endpoint answered 410" })
        assert.deepStrictEqual(types, ["integration.created", "integration.error"])
      } else {
        assert.deepStrictEqual([body.data.status, types], [status, ["integration.created"]])
      }
    })
  }

  it("is nobody's concern once the integration is gone", async () => {
    const { id } = await ours().made(minimalNats)
    await ours().remove(id)
    await fail(id)
    assert.lengthOf(await eventsOf(at().pool, id), 2)
  })

  it("forgets what went wrong when it is resumed", async () => {
    const { id } = await ours().made()
    await at().pool.query("update integrations set failing_since = now() where id = $1", [id])
    await fail(id)
    const { body } = await ours().move(id, "resume")
    assert.strictEqual(body.data.status, "ACTIVE")
    assert.notProperty(body.data, "statusReason")
    const { rows } = await at().pool.query("select status_reason, failing_since from integrations where id = $1", [id])
    assert.deepStrictEqual(rows, [{ status_reason: null, failing_since: null }])
  })

  it("changes once when many ask at the same time", async () => {
    const { id } = await ours().made(minimalNats)
    const answers = await Promise.all(Array.from({ length: 8 }, () => ours().move(id, "pause")))
    assert.lengthOf(
      answers.filter(({ status }) => status === 200),
      1
    )
    assert.deepStrictEqual(
      (await eventsOf(at().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.paused"]
    )
  })

  it("changes once when many workers give up at the same time", async () => {
    const { id } = await ours().made(minimalNats)
    await Promise.all(Array.from({ length: 4 }, (_, n) => fail(id, `Reason ${n}`)))
    assert.deepStrictEqual(
      (await eventsOf(at().pool, id)).map(({ type }) => type),
      ["integration.created", "integration.error"]
    )
  })

  it("does not matter to a ping, which leaves the integration as it was", async () => {
    const { id } = await ours().made()
    const before = await ours().get(id)
    const { body, status } = await ours().move(id, "ping")
    assert.strictEqual(status, 200)
    assert.deepInclude(body.data, {
      type: "integration.ping",
      tenant: at().tenant,
      sequence: 2,
      data: before.body.data
    })
    assert.strictEqual((await ours().get(id)).headers.get("etag"), before.headers.get("etag"))
    assert.strictEqual((await ours().move(id, "pause")).status, 200)
    assert.deepStrictEqual(
      (await eventsOf(at().pool, id)).map(({ sequence }) => sequence),
      [1, 2, 3]
    )
  })

  it.each(["JIRA", "GOOGLE_DRIVE"])(
    "does not let %s be pinged, or rotate a secret it does not have",
    async (provider) => {
      const { id } = await ours().made(minimalNats)
      await at().pool.query("update integrations set provider = $2 where id = $1", [id, provider])
      assertValidationError(await ours().move(id, "ping"), [
        "provider",
        "state",
        `is ${provider}; only WEBHOOK and NATS can be pinged`
      ])
      if (provider === "JIRA") return
      assertValidationError(await ours().rotate(id), ["provider", "state", `is ${provider}, which has no secret`])
    }
  )
})
