import { createHash } from "node:crypto"
import { afterEach, assert, describe, it } from "vitest"
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

const sites = (...ids: ReadonlyArray<string>) =>
  ids.map((id) => ({ id, name: id.toUpperCase(), url: `https://${id}.example.test`, scopes: [] }))

describe("coming back from a provider", () => {
  const at = useFixture(startServiceWithProvider)
  afterEach(() => {
    at().server.answer("/token", undefined)
    at().server.answer("/oauth/token/accessible-resources", undefined)
    at().server.setSites(sites("site-1"))
  })
  const ours = (as?: string) => authorizationClient(at().service, at().server, at().tenant, as)
  const exchanges = () => at().server.askedFor("/token").length
  const count = async (table: string, id: string) => {
    const { rows } = await at().pool.query(`select count(*)::int as n from ${table} where integration_id = $1`, [id])
    return rows[0].n
  }

  /** The page says only what we say, and its one message is to the origin that began. */
  const assertError = (page: ServiceResponse, code: string, id?: string) => {
    assert.strictEqual(page.status, 200, page.text)
    const { message, origin } = parseCallbackPage(page)
    if (id === undefined) return assert.deepStrictEqual([message, origin], [undefined, undefined])
    assert.strictEqual(origin, trustedOrigin)
    const { provider, ...rest } = message ?? assert.fail(page.text)
    assert.include(["JIRA", "GOOGLE_DRIVE"], provider)
    assert.deepStrictEqual(rest, { type: "integration.oauth", v: 1, status: "error", integrationId: id, code })
  }

  it("with the bearer of who began completes at once", async () => {
    const { id } = await ours().made(minimalDrive)
    const page = await ours().callback(await ours().consented(id), "owner")
    assert.deepStrictEqual(parseCallbackPage(page), {
      origin: trustedOrigin,
      message: { type: "integration.oauth", v: 1, status: "success", integrationId: id, provider: "GOOGLE_DRIVE" }
    })
    assert.deepInclude(await ours().shown(id), { status: "ACTIVE", isAuthorized: true })
    assert.deepStrictEqual([await count("grants", id), await count("pending_grants", id)], [1, 0])
    const events = await eventsOf(at().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
    assert.deepInclude(JSON.parse(events[1]?.data ?? ""), { status: "ACTIVE", isAuthorized: true })
  })

  it("without a bearer leaves the grant waiting, and gives the page what confirms it", async () => {
    const { id } = await ours().made(minimalDrive)
    const page = await ours().callback(await ours().consented(id))
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
    assert.deepInclude(await ours().shown(id), { status: "PENDING_AUTH", isAuthorized: false })
    assert.deepStrictEqual([await count("grants", id), await count("pending_grants", id)], [0, 1])
  })

  it("with the bearer of somebody else is forbidden, and leaves the state to who began", async () => {
    await addMember(at().service, at().tenant, "other", "ADMIN")
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    const before = exchanges()
    assertFailure(await ours().callback(query, "other"), 403, forbiddenText)
    assert.strictEqual(exchanges(), before)
    assert.strictEqual((await ours().callback(query, "owner")).status, 200)
    assert.isTrue((await ours().shown(id)).isAuthorized)
  })

  it("as somebody who is no ADMIN any more is forbidden", async () => {
    const member = await addMember(at().service, at().tenant, "leaver", "ADMIN")
    const { id } = await ours("leaver").made(minimalDrive)
    const query = await ours("leaver").consented(id)
    await at().service.api("DELETE", `/members/${member}`, { as: "owner", tenant: at().tenant })
    const before = exchanges()
    assertFailure(await ours().callback(query, "leaver"), 403, forbiddenText)
    assert.strictEqual(exchanges(), before)
  })

  it("with a bearer that is none is refused, whatever the state", async () => {
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    for (const authorization of ["Bearer a.b.c", "Basic YTpi", ""]) {
      const address = `/integrations/oauth/callback?${new URLSearchParams(query)}`
      assertFailure(await at().service.api("GET", address, { headers: { authorization } }), 401, unauthorizedText)
    }
    assert.strictEqual((await ours().callback(query, "owner")).status, 200, "the state was not used up")
  })

  const expire = (id: string) =>
    at().pool.query("update oauth_states set expires_at = now() where integration_id = $1", [id])

  it.each<[string, (query: { code: string; state: string }, id: string) => Promise<Record<string, string>>]>([
    ["missing", async ({ code }) => ({ code })],
    ["unknown", async ({ code }) => ({ code, state: "x".repeat(43) })],
    ["expired", async (query, id) => expire(id).then(() => query)],
    [
      "used",
      async (query) =>
        ours()
          .callback({ state: query.state, error: "access_denied" })
          .then(() => query)
    ]
  ])(
    "with a state that is %s, it is 401 without a bearer and a page with one, and nothing is exchanged",
    async (_, spoil) => {
      const { id } = await ours().made(minimalDrive)
      const query = await spoil(await ours().consented(id), id)
      const before = exchanges()
      assertFailure(await ours().callback(query), 401, unauthorizedText)
      assertError(await ours().callback(query, "owner"), "invalid_state")
      assert.strictEqual(exchanges(), before)
      assert.isFalse((await ours().shown(id)).isAuthorized)
    }
  )

  it("many times at once uses the state once", async () => {
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    const before = exchanges()
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => ours().callback(query)))).map(
      ({ status }) => status
    )
    assert.deepStrictEqual(statuses.toSorted(), [200, ...Array(11).fill(401)])
    assert.strictEqual(exchanges(), before + 1)
  })

  it("to a tenant that was deleted meanwhile is refused", async () => {
    const gone = await at().service.newTenant()
    const theirs = authorizationClient(at().service, at().server, gone)
    const { id } = await theirs.made(minimalDrive)
    const query = await theirs.consented(id)
    await at().service.api("DELETE", `/tenants/${gone}`, { as: "owner" })
    assertFailure(await theirs.callback(query), 401, unauthorizedText)
  })

  it("is not tried out with HEAD", async () => {
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    const tried = await fetch(`${at().service.url}/api/v1/integrations/oauth/callback?${new URLSearchParams(query)}`, {
      method: "HEAD"
    })
    assert.strictEqual(tried.status, 404)
    assert.strictEqual((await ours().callback(query, "owner")).status, 200)
    assert.isTrue((await ours().shown(id)).isAuthorized)
  })

  it("declined uses up the state, says so and nothing in the provider's words", async () => {
    const { id } = await ours().made(minimalDrive)
    const { state } = await ours().consented(id)
    const query = { state, error: "access_denied", error_description: "<b>planted words</b>" }
    const page = await ours().callback(query)
    assertError(page, "access_denied", id)
    assert.notInclude(page.text, "planted words")
    assert.include(page.text, "declined")
    assert.deepInclude(await ours().shown(id), {
      status: "PENDING_AUTH",
      statusReason: "The authorization was declined."
    })
    assertFailure(await ours().callback(query), 401, unauthorizedText)
  })

  it.each([[{ error: "</script><script>alert(1)</script>" }], [{}]])(
    "with %j and no code is a provider's error",
    async (query) => {
      const { id } = await ours().made(minimalDrive)
      const { state } = await ours().consented(id)
      const page = await ours().callback({ state, ...query })
      assertError(page, "provider_error", id)
      assert.notInclude(page.text, "alert")
    }
  )

  it("talks to Google in forms and to Jira in JSON, with the proof of possession", async () => {
    for (const [fields, contentType] of [
      [minimalDrive, "application/x-www-form-urlencoded"],
      [minimalJira, "application/json"]
    ] as const) {
      await ours().authorized(fields)
      const asked = at().server.askedFor("/token").at(-1)
      assert.strictEqual(asked?.contentType, contentType)
      assert.sameMembers(Object.keys(asked?.fields ?? {}), [
        ...["grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret"]
      ])
    }
  })

  it.each([
    ["refuses the code", { status: 400, body: { error: "invalid_grant" } }, "provider_error"],
    ["is broken", { status: 502, body: "<html>" }, "provider_unavailable"],
    ["does not know us", { status: 401, body: { error: "invalid_client" } }, "provider_unavailable"],
    ["answers nonsense", { status: 200, body: { token: 1 } }, "provider_unavailable"],
    ["answers without end", { status: 200, body: { access_token: "a".repeat(2_000_000) } }, "provider_unavailable"],
    ["gives no refresh token", { status: 200, body: { access_token: "a", expires_in: 3600 } }, "insufficient_scope"]
  ])("when the provider %s comes to nothing", async (_, answer, code) => {
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    at().server.answer("/token", answer)
    assertError(await ours().callback(query, "owner"), code, id)
    const { status, statusReason } = await ours().shown(id)
    assert.strictEqual(status, "PENDING_AUTH")
    assert.match(statusReason ?? "", /\S/)
    assert.deepStrictEqual([await count("grants", id), await count("pending_grants", id)], [0, 0])
  })

  it("when the provider does not answer comes to nothing after ten seconds", { timeout: 30_000 }, async () => {
    const { id } = await ours().made(minimalDrive)
    const query = await ours().consented(id)
    at().server.answer("/token", "silence")
    const started = performance.now()
    assertError(await ours().callback(query), "provider_unavailable", id)
    assert.isBelow(performance.now() - started, 13_000)
  })

  it.each([
    [minimalJira, "read:jira-work offline_access"],
    [minimalDrive, "openid"],
    [minimalDrive, ""]
  ])("with less than is needed comes to nothing: %j %s", async (fields, scope) => {
    const { id } = await ours().made(fields)
    assertError(await ours().callback(await ours().consented(id, scope), "owner"), "insufficient_scope", id)
    const { isAuthorized, status, statusReason } = await ours().shown(id)
    assert.deepStrictEqual([isAuthorized, status], [false, "PENDING_AUTH"])
    assert.include(statusReason, "Not everything that is needed was allowed")
  })

  it("without success takes nothing from an integration that is authorized", async () => {
    const id = await ours().authorized()
    const before = await ours().shown(id)
    const { state } = await ours().consented(id)
    assertError(await ours().callback({ state, error: "access_denied" }), "access_denied", id)
    assert.deepStrictEqual(await ours().shown(id), before)
    assert.strictEqual(await count("grants", id), 1)
  })

  it("again, with success, replaces the grant", async () => {
    const id = await ours().authorized()
    await ours().callback(await ours().consented(id), "owner")
    const { rows } = await at().pool.query("select generation from grants where integration_id = $1", [id])
    assert.deepStrictEqual(rows, [{ generation: 2 }])
  })

  it("from an integration that was paused meanwhile keeps it paused", async () => {
    const id = await ours().authorized()
    const query = await ours().consented(id)
    await ours().move(id, "pause")
    await ours().callback(query, "owner")
    assert.deepInclude(await ours().shown(id), { status: "PAUSED", isAuthorized: true })
  })

  describe("with a tracker", () => {
    const siteOf = async (id: string) => {
      const { rows } = await at().pool.query("select site_id, site_url from grants where integration_id = $1", [id])
      return rows[0]
    }
    it("takes the only site there is", async () => {
      const id = await ours().authorized(minimalJira)
      assert.deepStrictEqual(await siteOf(id), { site_id: "site-1", site_url: "https://site-1.example.test" })
      assert.match(
        at().server.askedFor("/oauth/token/accessible-resources").at(-1)?.authorization ?? "",
        /^Bearer planted-access/
      )
    })
    it("takes the site the settings name", async () => {
      at().server.setSites(sites("a", "b", "c"))
      const id = await ours().authorized({ ...minimalJira, config: { siteId: "b" } })
      assert.deepInclude(await siteOf(id), { site_id: "b" })
    })
    it.each([
      [
        "several sites and none chosen",
        ["a", "b"],
        {},
        "site_not_chosen",
        ["config.siteId", "https://a.example.test (a)", "(b)"]
      ],
      [
        "a site chosen that is not there",
        ["a", "b"],
        { siteId: "z" },
        "site_not_reached",
        ["config.siteId", "(a)", "(b)"]
      ],
      ["no site at all", [], {}, "site_not_reached", ["any site"]]
    ])("comes to nothing for %s", async (_, ids, config, code, words) => {
      at().server.setSites(sites(...ids))
      const { id } = await ours().made({ ...minimalJira, config })
      assertError(await ours().callback(await ours().consented(id), "owner"), code, id)
      const { isAuthorized, status, statusReason = "" } = await ours().shown(id)
      assert.deepStrictEqual([isAuthorized, status], [false, "PENDING_AUTH"])
      for (const word of words) assert.include(statusReason, word)
    })
    it("comes to nothing when the sites are not told", async () => {
      at().server.answer("/oauth/token/accessible-resources", { status: 401, body: {} })
      const { id } = await ours().made(minimalJira)
      assertError(await ours().callback(await ours().consented(id), "owner"), "provider_unavailable", id)
    })
  })

  it("ends on a page that is kept nowhere, framed nowhere, and runs its own script alone", async () => {
    const { id } = await ours().made(minimalDrive)
    const { headers, text } = await ours().callback(await ours().consented(id))
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
      `default-src 'none'; script-src ${digest("script")}; style-src ${digest("style")}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    )
    assert.notInclude(text, '"*"')
  })
})
