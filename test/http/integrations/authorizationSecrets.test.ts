import { Effect, Layer } from "effect"
import { assert, describe, it, vi } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Grants } from "../../../src/layers/integrations/authorization/Grants.ts"
import { dumpTables, findLeaks } from "../../support/assertions/leaks.ts"
import {
  authorizationClient,
  minimalDrive,
  minimalJira,
  startServiceWithProvider
} from "../../support/fixtures/authorizations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { clientSecret } from "../../support/servers/oauthProvider.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"

describe("what a provider grants", () => {
  const at = useFixture(startServiceWithProvider)
  const ours = () => authorizationClient(at().service, at().server, at().tenant)
  const live = () =>
    testLayers(at().service.database.url, { DATA_DIR: at().service.dataDir, ...at().server.environment })
  const round = () => runJanitorOnce(at().service, at().server.environment)
  const refreshed = (id: string) =>
    Effect.flatMap(Grants, (grants) => grants.getAccess(TenantId.make(at().tenant), id)).pipe(
      Effect.provide(Layer.provide(Grants.Default, live())),
      Effect.runPromise
    )

  it("lies nowhere in the clear, and is told to nobody", async () => {
    const answers: Array<ServiceResponse> = []
    const seen = (answer: ServiceResponse) => {
      answers.push(answer)
      return answer
    }
    const secrets = [clientSecret]
    for (const fields of [minimalJira, minimalDrive]) {
      const { id } = await ours().made(fields)
      const headers = { "idempotency-key": `begin-${id}` }
      const body = { origin: "https://app.example.test" }
      const begun = await ours().call("POST", `/${id}/authorize`, body, headers)
      const { code, state } = at().server.consent(begun.body.data.authorizationUrl)
      secrets.push(code, state)
      seen(await ours().callback({ code, state }))
      const confirmation = await ours().waiting(id)
      secrets.push(confirmation)
      seen(await ours().confirm(id, confirmation))
      await at().pool.query("update grants set expires_at = now() where integration_id = $1", [id])
      await refreshed(id)
      seen(await ours().get(id))
      await ours().consented(id)
    }
    seen(await at().service.api("GET", "/events", { as: "owner", tenant: at().tenant }))
    secrets.push(
      ...at().server.issued,
      ...at().server.asked.map(({ fields }) => fields["code_verifier"] ?? clientSecret)
    )
    assert.isAbove(secrets.length, 20)
    const kept = await dumpTables(at().pool)
    assert.isTrue(
      kept.some((row) => row.includes("folder-1")),
      "what is no secret is found this way"
    )
    const told = answers.map(({ headers, text }) => JSON.stringify([...headers]) + text)
    for (const place of [...kept, ...at().service.logs, ...told])
      assert.deepStrictEqual(findLeaks(place, secrets), [], place)
  })

  const revoked = () =>
    at()
      .server.askedFor("/revoke")
      .map(({ fields }) => fields["token"])

  it("is given back to Google when the integration is deleted, which nobody waits for", async () => {
    const id = await ours().authorized()
    const grant = at().server.issued.at(-1)
    await ours().waiting(id)
    const pending = at().server.issued.at(-1)
    at().server.setDelay(1000)
    const started = performance.now()
    assert.strictEqual((await ours().remove(id)).status, 204)
    assert.isBelow(performance.now() - started, 900)
    await vi.waitFor(() => assert.includeMembers(revoked(), [grant, pending]), 5000)
    at().server.setDelay(0)
    const { rows } = await at().pool.query("select 1 from grants where integration_id = $1", [id])
    assert.isEmpty(rows)
  })

  it("is deleted all the same when Google does not take it back", async () => {
    const id = await ours().authorized()
    at().server.answer("/revoke", { status: 500, body: {} })
    assert.strictEqual((await ours().remove(id)).status, 204)
    at().server.answer("/revoke", undefined)
    assert.strictEqual((await ours().get(id)).status, 404)
  })

  it("is deleted and discarded all the same when it does not open any more", async () => {
    const [id, other] = [await ours().authorized(), (await ours().made(minimalDrive)).id]
    for (const each of [id, other]) await ours().waiting(each)
    await at().pool.query("update grants set access = 'x' where integration_id = $1", [id])
    await at().pool.query("update pending_grants set sealed = 'x' where integration_id in ($1, $2)", [id, other])
    assert.strictEqual((await ours().remove(id)).status, 204)
    await outlive("pending_grants", other)
    await round()
    assert.strictEqual(await left("pending_grants", other), 0)
  })

  it("cannot be given back to Jira", async () => {
    const id = await ours().authorized(minimalJira)
    const before = at().server.asked.length
    await ours().remove(id)
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.strictEqual(at().server.asked.length, before)
  })

  const outlive = (table: string, id: string) =>
    at().pool.query(`update ${table} set expires_at = now() - interval '1 second' where integration_id = $1`, [id])
  const left = async (table: string, id: string) => {
    const { rows } = await at().pool.query(`select 1 from ${table} where integration_id = $1`, [id])
    return rows.length
  }

  it("is discarded by the janitor and given back when nobody confirms it in time, and not before", async () => {
    const { id } = await ours().made(minimalDrive)
    await ours().waiting(id)
    const token = at().server.issued.at(-1)
    await round()
    assert.deepStrictEqual([await left("pending_grants", id), await left("oauth_states", id)], [1, 1])
    await outlive("pending_grants", id)
    await outlive("oauth_states", id)
    await Promise.all([round(), round()])
    assert.deepStrictEqual([await left("pending_grants", id), await left("oauth_states", id)], [0, 0])
    assert.lengthOf(
      revoked().filter((each) => each === token),
      1
    )
  })

  it("is discarded and not given back when the integration was authorized otherwise", async () => {
    const id = await ours().authorized()
    await ours().waiting(id)
    const before = revoked().length
    await outlive("pending_grants", id)
    await round()
    assert.strictEqual(await left("pending_grants", id), 0)
    assert.strictEqual(revoked().length, before)
    assert.strictEqual(await left("grants", id), 1)
  })
})
