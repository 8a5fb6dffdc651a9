import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { parseCallbackPage } from "../../support/assertions/callbackPage.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { authorizationClient, minimalJira } from "../../support/fixtures/authorizations.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const sites = (...ids: ReadonlyArray<string>) =>
  ids.map((id) => ({ id, name: id, url: `https://${id}.example.test`, scopes: [] }))

describe("the site of a tracker's integration", () => {
  let server: OAuthProviderServer
  let service: Service
  let tenant: string
  beforeAll(async () => {
    server = await startOAuthProvider()
    service = await startService(server.environment)
    tenant = await service.newTenant()
  })
  afterEach(() => server.setSites(sites("site-1")))
  afterAll(async () => {
    await service.stop()
    await server.stop()
  })
  const ours = () => authorizationClient(service, server, tenant)
  const configOf = async (id: string) => (await ours().shown(id)).config

  it("is shown in its settings once it is authorized", async () => {
    const id = await ours().authorized({ ...minimalJira, config: { jql: "project = A" } })
    assert.deepStrictEqual(await configOf(id), { jql: "project = A", siteId: "site-1" })
  })

  it("is authorized, or named among several, though the provider tells it with what no database can hold", async () => {
    server.setSites([{ id: "site-\u00001", name: "\u0000", url: "https://\ud800.example.test", scopes: [] }])
    const id = await ours().authorized(minimalJira)
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    server.setSites(sites("a\u0000", `b${"\u{1F600}".repeat(45)}`))
    const { id: undecided } = await ours().made(minimalJira)
    const page = await ours().callback(await ours().consented(undecided), "owner")
    assert.strictEqual(parseCallbackPage(page).message?.code, "site_not_chosen")
    assert.include((await ours().shown(undecided)).statusReason, "https://a.example.test (a)")
  })

  it("is changed at will before that", async () => {
    const { id } = await ours().made({ ...minimalJira, config: { siteId: "a" } })
    assert.strictEqual((await ours().patch(id, { config: { siteId: "b" } })).status, 200)
    assert.strictEqual((await ours().patch(id, { config: {} })).status, 200)
    assert.deepStrictEqual(await configOf(id), {})
  })

  it("stays after that, whatever else changes and wherever the integration stands", async () => {
    const id = await ours().authorized(minimalJira)
    const refused = [
      "config.siteId",
      "state",
      "is site-1 since the integration was authorized; make another integration for another site"
    ] as const
    assertValidationError(await ours().patch(id, { config: { siteId: "other" } }), refused)
    assert.strictEqual((await ours().patch(id, { config: { jql: "project = B" } })).status, 200)
    assert.deepStrictEqual(await configOf(id), { jql: "project = B", siteId: "site-1" })
    assert.strictEqual((await ours().patch(id, { name: "Renamed", config: { siteId: "site-1" } })).status, 200)
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    await ours().move(id, "pause")
    assertValidationError(await ours().patch(id, { config: { siteId: "other" } }), refused)
  })

  it("stays when an account that does not reach it authorizes again", async () => {
    const id = await ours().authorized(minimalJira)
    server.setSites(sites("other"))
    const page = await ours().callback(await ours().consented(id), "owner")
    assert.strictEqual(parseCallbackPage(page).message?.code, "site_not_reached")
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    server.setSites(sites("other", "site-1"))
    await ours().callback(await ours().consented(id), "owner")
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
  })

  it("is not authorized when the settings name another one by the time of the confirmation", async () => {
    server.setSites(sites("a", "b"))
    const { id } = await ours().made({ ...minimalJira, config: { siteId: "a" } })
    const confirmation = await ours().waiting(id)
    await ours().patch(id, { config: { siteId: "b" } })
    assertValidationError(await ours().confirm(id, confirmation), [
      "config.siteId",
      "state",
      "was changed since the authorization began; authorize again"
    ])
    assert.deepInclude(await ours().shown(id), { isAuthorized: false, config: { siteId: "b" } })
    assert.strictEqual((await ours().confirm(id, await ours().waiting(id))).status, 200)
    assert.deepInclude(await ours().shown(id), { isAuthorized: true, config: { siteId: "b" } })
  })
})
