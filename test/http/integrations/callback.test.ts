import { createHash } from "node:crypto"
import { afterEach, assert, describe, it, onTestFinished, vi } from "vitest"
import { parseCallbackPage } from "../../support/assertions/callbackPage.ts"
import { assertFailure, forbiddenText, unauthorizedText } from "../../support/assertions/failures.ts"
import {
  authorizationClient,
  minimalDrive,
  minimalJira,
  startServiceWithProvider
} from "../../support/fixtures/authorizations.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { trustedOrigin } from "../../support/servers/oauthProvider.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { eventually } from "../../support/servers/worker.ts"

const sites = (...ids: ReadonlyArray<string>) =>
  ids.map((id) => ({ id, name: id.toUpperCase(), url: `https://${id}.example.test`, scopes: [] }))

describe("GET /integrations/oauth/callback", () => {
  const fixture = useFixture(startServiceWithProvider)
  afterEach(() => {
    fixture().server.overrideResponse("/token", undefined)
    fixture().server.overrideResponse("/oauth/token/accessible-resources", undefined)
    fixture().server.setSites(sites("site-1"))
  })
  const integrations = (as?: string) => authorizationClient(fixture().service, fixture().server, fixture().tenant, as)
  const countExchanges = () => fixture().server.requestsTo("/token").length
  const countRows = async (table: string, id: string) => {
    const { rows } = await fixture().pool.query(`select count(*)::int as n from ${table} where integration_id = $1`, [
      id
    ])
    return rows[0].n
  }

  /** Asserts the error code in the page's message, or that the page has no message if `id` is missing. */
  const assertErrorPage = (page: ServiceResponse, code: string, id?: string) => {
    assert.strictEqual(page.status, 200, page.text)
    const { message, origin } = parseCallbackPage(page)
    if (id === undefined) return assert.deepStrictEqual([message, origin], [undefined, undefined])
    assert.strictEqual(origin, trustedOrigin)
    const { provider, ...rest } = message ?? assert.fail(page.text)
    assert.include(["JIRA", "GOOGLE_DRIVE"], provider)
    assert.deepStrictEqual(rest, { type: "integration.oauth", v: 1, status: "error", integrationId: id, code })
  }

  it("completes the authorization when the person who began it sends a token", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const page = await integrations().callback(await integrations().consent(id), "owner")
    assert.deepStrictEqual(parseCallbackPage(page), {
      origin: trustedOrigin,
      message: { type: "integration.oauth", v: 1, status: "success", integrationId: id, provider: "GOOGLE_DRIVE" }
    })
    assert.deepInclude(await integrations().read(id), { status: "ACTIVE", isAuthorized: true })
    assert.deepStrictEqual([await countRows("grants", id), await countRows("pending_grants", id)], [1, 0])
    const events = await eventsOf(fixture().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
    assert.deepInclude(JSON.parse(events[1]?.data ?? ""), { status: "ACTIVE", isAuthorized: true })
  })

  it("stores a pending grant and returns a confirmation when no token is sent", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const page = await integrations().callback(await integrations().consent(id))
    assert.strictEqual(page.status, 200)
    const { confirmation = "", ...rest } = parseCallbackPage(page).message ?? assert.fail(page.text)
    assert.match(confirmation, /^[\w-]{43}$/)
    assert.deepStrictEqual(rest, {
      type: "integration.oauth",
      v: 1,
      status: "success",
      integrationId: id,
      provider: "GOOGLE_DRIVE"
    })
    assert.deepInclude(await integrations().read(id), { status: "PENDING_AUTH", isAuthorized: false })
    assert.deepStrictEqual([await countRows("grants", id), await countRows("pending_grants", id)], [0, 1])
  })

  it("rejects the token of another person and does not consume the state", async () => {
    await addMember(fixture().service, fixture().tenant, "other", "ADMIN")
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    const before = countExchanges()
    assertFailure(await integrations().callback(query, "other"), 403, forbiddenText)
    assert.strictEqual(countExchanges(), before)
    assert.strictEqual((await integrations().callback(query, "owner")).status, 200)
    assert.isTrue((await integrations().read(id)).isAuthorized)
  })

  it("rejects a person who is no longer an ADMIN", async () => {
    const member = await addMember(fixture().service, fixture().tenant, "leaver", "ADMIN")
    const { id } = await integrations("leaver").mustCreate(minimalDrive)
    const query = await integrations("leaver").consent(id)
    await fixture().service.api("DELETE", `/members/${member}`, { as: "owner", tenant: fixture().tenant })
    const before = countExchanges()
    assertFailure(await integrations().callback(query, "leaver"), 403, forbiddenText)
    assert.strictEqual(countExchanges(), before)
  })

  it("rejects an invalid Authorization header and does not consume the state", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    for (const authorization of ["Bearer a.b.c", "Basic YTpi", ""]) {
      const address = `/integrations/oauth/callback?${new URLSearchParams(query)}`
      assertFailure(await fixture().service.api("GET", address, { headers: { authorization } }), 401, unauthorizedText)
    }
    assert.strictEqual((await integrations().callback(query, "owner")).status, 200, "the state is not consumed")
  })

  const expireState = (id: string) =>
    fixture().pool.query("update oauth_states set expires_at = now() where integration_id = $1", [id])

  it.each<[string, (query: { code: string; state: string }, id: string) => Promise<Record<string, string>>]>([
    ["missing", async ({ code }) => ({ code })],
    ["unknown", async ({ code }) => ({ code, state: "x".repeat(43) })],
    ["expired", async (query, id) => expireState(id).then(() => query)],
    [
      "consumed",
      async (query) =>
        integrations()
          .callback({ state: query.state, error: "access_denied" })
          .then(() => query)
    ]
  ])(
    "rejects a state that is %s with 401, or with an error page if a token is sent, and exchanges no code",
    async (_, invalidate) => {
      const { id } = await integrations().mustCreate(minimalDrive)
      const query = await invalidate(await integrations().consent(id), id)
      const before = countExchanges()
      assertFailure(await integrations().callback(query), 401, unauthorizedText)
      assertErrorPage(await integrations().callback(query, "owner"), "invalid_state")
      assert.strictEqual(countExchanges(), before)
      assert.isFalse((await integrations().read(id)).isAuthorized)
    }
  )

  it("consumes the state once in concurrent requests", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    const before = countExchanges()
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => integrations().callback(query)))).map(
      ({ status }) => status
    )
    assert.deepStrictEqual(statuses.toSorted(), [200, ...Array(11).fill(401)])
    assert.strictEqual(countExchanges(), before + 1)
  })

  it("rejects the state of a tenant that was deleted in the meantime", async () => {
    const tenant = await fixture().service.newTenant()
    const deleted = authorizationClient(fixture().service, fixture().server, tenant)
    const { id } = await deleted.mustCreate(minimalDrive)
    const query = await deleted.consent(id)
    await fixture().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    assertFailure(await deleted.callback(query), 401, unauthorizedText)
  })

  it("does not support HEAD, which would consume the state", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    const response = await fetch(
      `${fixture().service.url}/api/v1/integrations/oauth/callback?${new URLSearchParams(query)}`,
      {
        method: "HEAD"
      }
    )
    assert.strictEqual(response.status, 404)
    assert.strictEqual((await integrations().callback(query, "owner")).status, 200)
    assert.isTrue((await integrations().read(id)).isAuthorized)
  })

  it("consumes the state when the person declines, and shows no text of the provider", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const { state } = await integrations().consent(id)
    const query = { state, error: "access_denied", error_description: "<b>text of the provider</b>" }
    const page = await integrations().callback(query)
    assertErrorPage(page, "access_denied", id)
    assert.notInclude(page.text, "text of the provider")
    assert.include(page.text, "declined")
    assert.deepInclude(await integrations().read(id), {
      status: "PENDING_AUTH",
      statusReason: "The authorization was declined."
    })
    assertFailure(await integrations().callback(query), 401, unauthorizedText)
  })

  it.each([[{ error: "</script><script>alert(1)</script>" }], [{}]])(
    "reports provider_error for the query %j without a code",
    async (query) => {
      const { id } = await integrations().mustCreate(minimalDrive)
      const { state } = await integrations().consent(id)
      const page = await integrations().callback({ state, ...query })
      assertErrorPage(page, "provider_error", id)
      assert.notInclude(page.text, "alert")
    }
  )

  it("exchanges the code with a form at Google and with JSON at Jira, both with the PKCE verifier", async () => {
    for (const [fields, contentType] of [
      [minimalDrive, "application/x-www-form-urlencoded"],
      [minimalJira, "application/json"]
    ] as const) {
      await integrations().createAuthorized(fields)
      const request = fixture().server.requestsTo("/token").at(-1)
      assert.strictEqual(request?.contentType, contentType)
      assert.sameMembers(Object.keys(request?.fields ?? {}), [
        ...["grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret"]
      ])
    }
  })

  it.each([
    ["rejects the code", { status: 400, body: { error: "invalid_grant" } }, "provider_error"],
    ["responds with 502", { status: 502, body: "<html>" }, "provider_unavailable"],
    ["does not know the client", { status: 401, body: { error: "invalid_client" } }, "provider_unavailable"],
    ["sends JSON without a token", { status: 200, body: { token: 1 } }, "provider_unavailable"],
    ["sends 2 MB", { status: 200, body: { access_token: "a".repeat(2_000_000) } }, "provider_unavailable"],
    ["sends no refresh token", { status: 200, body: { access_token: "a", expires_in: 3600 } }, "insufficient_scope"]
  ])("stores no grant when the provider %s", async (_, response, code) => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    fixture().server.overrideResponse("/token", response)
    assertErrorPage(await integrations().callback(query, "owner"), code, id)
    const { status, statusReason } = await integrations().read(id)
    assert.strictEqual(status, "PENDING_AUTH")
    assert.match(statusReason ?? "", /\S/)
    assert.deepStrictEqual([await countRows("grants", id), await countRows("pending_grants", id)], [0, 0])
  })

  it("stores no grant when the provider does not respond within ten seconds", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const query = await integrations().consent(id)
    fixture().server.overrideResponse("/token", "silence")
    const before = countExchanges()
    const clock = new AbortController()
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(clock.signal)
    onTestFinished(() => timeout.mockRestore())
    const page = integrations().callback(query)
    await eventually(() => countExchanges() > before, "the provider receives the request")
    assert.deepStrictEqual(timeout.mock.calls, [[10_000]])
    clock.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
    assertErrorPage(await page, "provider_unavailable", id)
    assert.deepStrictEqual([await countRows("grants", id), await countRows("pending_grants", id)], [0, 0])
  })

  it.each([
    [minimalJira, "read:jira-work offline_access"],
    [minimalDrive, "openid"],
    [minimalDrive, ""]
  ])("reports insufficient_scope for %j when the person grants only %j", async (fields, scope) => {
    const { id } = await integrations().mustCreate(fields)
    assertErrorPage(
      await integrations().callback(await integrations().consent(id, scope), "owner"),
      "insufficient_scope",
      id
    )
    const { isAuthorized, status, statusReason } = await integrations().read(id)
    assert.deepStrictEqual([isAuthorized, status], [false, "PENDING_AUTH"])
    assert.include(statusReason, "A required permission was not granted")
  })

  it("keeps the existing grant when a new authorization fails", async () => {
    const id = await integrations().createAuthorized()
    const before = await integrations().read(id)
    const { state } = await integrations().consent(id)
    assertErrorPage(await integrations().callback({ state, error: "access_denied" }), "access_denied", id)
    assert.deepStrictEqual(await integrations().read(id), before)
    assert.strictEqual(await countRows("grants", id), 1)
  })

  it("replaces the existing grant when a new authorization succeeds", async () => {
    const id = await integrations().createAuthorized()
    await integrations().callback(await integrations().consent(id), "owner")
    const { rows } = await fixture().pool.query("select generation from grants where integration_id = $1", [id])
    assert.deepStrictEqual(rows, [{ generation: 2 }])
  })

  it("does not resume an integration that was paused in the meantime", async () => {
    const id = await integrations().createAuthorized()
    const query = await integrations().consent(id)
    await integrations().transition(id, "pause")
    await integrations().callback(query, "owner")
    assert.deepInclude(await integrations().read(id), { status: "PAUSED", isAuthorized: true })
  })

  describe("for Jira", () => {
    const siteOf = async (id: string) => {
      const { rows } = await fixture().pool.query("select site_id, site_url from grants where integration_id = $1", [
        id
      ])
      return rows[0]
    }
    it("selects the only accessible site", async () => {
      const id = await integrations().createAuthorized(minimalJira)
      assert.deepStrictEqual(await siteOf(id), { site_id: "site-1", site_url: "https://site-1.example.test" })
      assert.match(
        fixture().server.requestsTo("/oauth/token/accessible-resources").at(-1)?.authorization ?? "",
        /^Bearer planted-access/
      )
    })
    it("selects the site named in config.siteId", async () => {
      fixture().server.setSites(sites("a", "b", "c"))
      const id = await integrations().createAuthorized({ ...minimalJira, config: { siteId: "b" } })
      assert.deepInclude(await siteOf(id), { site_id: "b" })
    })
    it.each([
      [
        "several sites and none is chosen",
        ["a", "b"],
        {},
        "site_not_chosen",
        ["config.siteId", "https://a.example.test (a)", "(b)"]
      ],
      [
        "several sites without the chosen one",
        ["a", "b"],
        { siteId: "z" },
        "site_not_reached",
        ["config.siteId", "(a)", "(b)"]
      ],
      ["no site", [], {}, "site_not_reached", ["any site"]]
    ])("stores no grant when the account has access to %s", async (_, ids, config, code, words) => {
      fixture().server.setSites(sites(...ids))
      const { id } = await integrations().mustCreate({ ...minimalJira, config })
      assertErrorPage(await integrations().callback(await integrations().consent(id), "owner"), code, id)
      const { isAuthorized, status, statusReason = "" } = await integrations().read(id)
      assert.deepStrictEqual([isAuthorized, status], [false, "PENDING_AUTH"])
      for (const word of words) assert.include(statusReason, word)
    })
    it("reports provider_unavailable when Jira rejects the request for the sites", async () => {
      fixture().server.overrideResponse("/oauth/token/accessible-resources", { status: 401, body: {} })
      const { id } = await integrations().mustCreate(minimalJira)
      assertErrorPage(
        await integrations().callback(await integrations().consent(id), "owner"),
        "provider_unavailable",
        id
      )
    })
  })

  it("returns a page that cannot be cached or framed and runs only its own script", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const { headers, text } = await integrations().callback(await integrations().consent(id))
    assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
    for (const [name, value] of Object.entries({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "unsafe-none"
    })) {
      assert.strictEqual(headers.get(name), value, name)
    }
    assert.isNull(headers.get("etag"))
    const digest = (tag: string) => {
      const content = new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(text)?.[1] ?? assert.fail(tag)
      return `'sha256-${createHash("sha256").update(content).digest("base64")}'`
    }
    assert.strictEqual(
      headers.get("content-security-policy"),
      [
        `default-src 'none'; script-src ${digest("script")}; style-src ${digest("style")}`,
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ].join("; ")
    )
    assert.notInclude(text, '"*"')
  })
})
