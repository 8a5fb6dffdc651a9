import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { parseCallbackPage } from "../../support/assertions/callbackPage.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { authorizationClient, minimalJira } from "../../support/fixtures/authorizations.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const sites = (...ids: ReadonlyArray<string>) =>
  ids.map((id) => ({ id, name: id, url: `https://${id}.example.test`, scopes: [] }))

describe("The site of a Jira integration", () => {
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
  const integrations = () => authorizationClient(service, server, tenant)
  const configOf = async (id: string) => (await integrations().read(id)).config

  it("is shown in config after the authorization", async () => {
    const id = await integrations().createAuthorized({ ...minimalJira, config: { jql: "project = A" } })
    assert.deepStrictEqual(await configOf(id), { jql: "project = A", siteId: "site-1" })
  })

  it("is stored and reported without the characters that PostgreSQL cannot store", async () => {
    server.setSites([{ id: "site-\u00001", name: "\u0000", url: "https://\ud800.example.test", scopes: [] }])
    const id = await integrations().createAuthorized(minimalJira)
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    server.setSites(sites("a\u0000", `b${"\u{1F600}".repeat(45)}`))
    const { id: undecided } = await integrations().mustCreate(minimalJira)
    const page = await integrations().callback(await integrations().consent(undecided), "owner")
    assert.strictEqual(parseCallbackPage(page).message?.code, "site_not_chosen")
    assert.include((await integrations().read(undecided)).statusReason, "https://a.example.test (a)")
  })

  it("can be changed before the authorization", async () => {
    const { id } = await integrations().mustCreate({ ...minimalJira, config: { siteId: "a" } })
    assert.strictEqual((await integrations().patch(id, { config: { siteId: "b" } })).status, 200)
    assert.strictEqual((await integrations().patch(id, { config: {} })).status, 200)
    assert.deepStrictEqual(await configOf(id), {})
  })

  it("cannot be changed after the authorization", async () => {
    const id = await integrations().createAuthorized(minimalJira)
    const expectedError = [
      "config.siteId",
      "state",
      "is site-1 since the authorization and cannot change; create another integration for another site"
    ] as const
    assertValidationError(await integrations().patch(id, { config: { siteId: "other" } }), expectedError)
    assert.strictEqual((await integrations().patch(id, { config: { jql: "project = B" } })).status, 200)
    assert.deepStrictEqual(await configOf(id), { jql: "project = B", siteId: "site-1" })
    assert.strictEqual((await integrations().patch(id, { name: "Renamed", config: { siteId: "site-1" } })).status, 200)
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    await integrations().transition(id, "pause")
    assertValidationError(await integrations().patch(id, { config: { siteId: "other" } }), expectedError)
  })

  it("does not change when an account without access to it authorizes again", async () => {
    const id = await integrations().createAuthorized(minimalJira)
    server.setSites(sites("other"))
    const page = await integrations().callback(await integrations().consent(id), "owner")
    assert.strictEqual(parseCallbackPage(page).message?.code, "site_not_reached")
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
    server.setSites(sites("other", "site-1"))
    await integrations().callback(await integrations().consent(id), "owner")
    assert.deepStrictEqual(await configOf(id), { siteId: "site-1" })
  })

  it("is not authorized when config names another site at the confirmation", async () => {
    server.setSites(sites("a", "b"))
    const { id } = await integrations().mustCreate({ ...minimalJira, config: { siteId: "a" } })
    const confirmation = await integrations().pendingConfirmation(id)
    await integrations().patch(id, { config: { siteId: "b" } })
    assertValidationError(await integrations().confirm(id, confirmation), [
      "config.siteId",
      "state",
      "has changed since the authorization began; authorize again"
    ])
    assert.deepInclude(await integrations().read(id), { isAuthorized: false, config: { siteId: "b" } })
    assert.strictEqual((await integrations().confirm(id, await integrations().pendingConfirmation(id))).status, 200)
    assert.deepInclude(await integrations().read(id), { isAuthorized: true, config: { siteId: "b" } })
  })
})
