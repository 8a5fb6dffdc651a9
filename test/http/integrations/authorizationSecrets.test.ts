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

describe("OAuth grants", () => {
  const fixture = useFixture(startServiceWithProvider)
  const integrations = () => authorizationClient(fixture().service, fixture().server, fixture().tenant)
  const layers = () =>
    testLayers(fixture().service.database.url, { DATA_DIR: fixture().service.dataDir, ...fixture().server.environment })
  const runJanitor = () => runJanitorOnce(fixture().service, fixture().server.environment)
  const refreshAccessToken = (id: string) =>
    Effect.flatMap(Grants, (grants) => grants.getAccess(TenantId.make(fixture().tenant), id)).pipe(
      Effect.provide(Layer.provide(Grants.Default, layers())),
      Effect.runPromise
    )

  it("leak no secret into tables, logs or responses", async () => {
    const responses: Array<ServiceResponse> = []
    const record = (response: ServiceResponse) => responses.push(response)
    const secrets = [clientSecret]
    for (const fields of [minimalJira, minimalDrive]) {
      const { id } = await integrations().mustCreate(fields)
      const headers = { "idempotency-key": `begin-${id}` }
      const body = { origin: "https://app.example.test" }
      const authorization = await integrations().call("POST", `/${id}/authorize`, body, headers)
      const { code, state } = fixture().server.consent(authorization.body.data.authorizationUrl)
      secrets.push(code, state)
      record(await integrations().callback({ code, state }))
      const confirmation = await integrations().pendingConfirmation(id)
      secrets.push(confirmation)
      record(await integrations().confirm(id, confirmation))
      await fixture().pool.query("update grants set expires_at = now() where integration_id = $1", [id])
      await refreshAccessToken(id)
      record(await integrations().get(id))
      await integrations().consent(id)
    }
    record(await fixture().service.api("GET", "/events", { as: "owner", tenant: fixture().tenant }))
    secrets.push(
      ...fixture().server.issued,
      ...fixture().server.requests.map(({ fields }) => fields["code_verifier"] ?? clientSecret)
    )
    assert.isAbove(secrets.length, 20)
    const rows = await dumpTables(fixture().pool)
    assert.isTrue(
      rows.some((row) => row.includes("folder-1")),
      "the dump contains the value of a field that is not secret"
    )
    const responseTexts = responses.map(({ headers, text }) => JSON.stringify([...headers]) + text)
    for (const text of [...rows, ...fixture().service.logs, ...responseTexts])
      assert.deepStrictEqual(findLeaks(text, secrets), [], text)
  })

  const revokedTokens = () =>
    fixture()
      .server.requestsTo("/revoke")
      .map(({ fields }) => fields["token"])

  it("are revoked at Google in the background when the integration is deleted", async () => {
    const id = await integrations().createAuthorized()
    const grant = fixture().server.issued.at(-1)
    await integrations().pendingConfirmation(id)
    const pending = fixture().server.issued.at(-1)
    // The second revocation starts after the first, so a response that waited for them would find both.
    fixture().server.setDelay(1000)
    assert.strictEqual((await integrations().remove(id)).status, 204)
    assert.isFalse([grant, pending].every((token) => revokedTokens().includes(token)))
    await vi.waitFor(() => assert.includeMembers(revokedTokens(), [grant, pending]), 5000)
    fixture().server.setDelay(0)
    const { rows } = await fixture().pool.query("select 1 from grants where integration_id = $1", [id])
    assert.isEmpty(rows)
  })

  it("are deleted with the integration although Google fails to revoke them", async () => {
    const id = await integrations().createAuthorized()
    fixture().server.overrideResponse("/revoke", { status: 500, body: {} })
    assert.strictEqual((await integrations().remove(id)).status, 204)
    fixture().server.overrideResponse("/revoke", undefined)
    assert.strictEqual((await integrations().get(id)).status, 404)
  })

  it("are deleted with the integration and by the janitor although they cannot be decrypted", async () => {
    const [id, other] = [await integrations().createAuthorized(), (await integrations().mustCreate(minimalDrive)).id]
    for (const each of [id, other]) await integrations().pendingConfirmation(each)
    await fixture().pool.query("update grants set access = 'x' where integration_id = $1", [id])
    await fixture().pool.query("update pending_grants set sealed = 'x' where integration_id in ($1, $2)", [id, other])
    assert.strictEqual((await integrations().remove(id)).status, 204)
    await expire("pending_grants", other)
    await runJanitor()
    assert.strictEqual(await countRows("pending_grants", other), 0)
  })

  it("are not revoked at Jira, which has no revocation endpoint", async () => {
    const jira = await integrations().createAuthorized(minimalJira)
    const drive = await integrations().createAuthorized()
    const before = fixture().server.requests.length
    await integrations().remove(jira)
    await integrations().remove(drive)
    await vi.waitFor(() => assert.isAbove(fixture().server.requests.length, before), 5000)
    assert.deepStrictEqual(
      fixture()
        .server.requests.slice(before)
        .map(({ path }) => path),
      ["/revoke"],
      "only the request for the Google Drive integration, which was deleted last"
    )
  })

  const expire = (table: string, id: string) =>
    fixture().pool.query(`update ${table} set expires_at = now() - interval '1 second' where integration_id = $1`, [id])
  const countRows = async (table: string, id: string) => {
    const { rows } = await fixture().pool.query(`select 1 from ${table} where integration_id = $1`, [id])
    return rows.length
  }

  it("are deleted and revoked by the janitor only once the time to confirm them is over", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    await integrations().pendingConfirmation(id)
    const token = fixture().server.issued.at(-1)
    await runJanitor()
    assert.deepStrictEqual([await countRows("pending_grants", id), await countRows("oauth_states", id)], [1, 1])
    await expire("pending_grants", id)
    await expire("oauth_states", id)
    await Promise.all([runJanitor(), runJanitor()])
    assert.deepStrictEqual([await countRows("pending_grants", id), await countRows("oauth_states", id)], [0, 0])
    assert.lengthOf(
      revokedTokens().filter((each) => each === token),
      1
    )
  })

  it("are deleted by the janitor without a revocation when the integration has another grant", async () => {
    const id = await integrations().createAuthorized()
    await integrations().pendingConfirmation(id)
    const before = revokedTokens().length
    await expire("pending_grants", id)
    await runJanitor()
    assert.strictEqual(await countRows("pending_grants", id), 0)
    assert.strictEqual(revokedTokens().length, before)
    assert.strictEqual(await countRows("grants", id), 1)
  })
})
