import { Cause, Effect, Exit, Layer, Option, Scope } from "effect"
import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Grants } from "../../../src/layers/integrations/authorization/Grants.ts"
import { authorizationClient, minimalDrive, minimalJira } from "../../support/fixtures/authorizations.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("access to a provider", () => {
  let server: OAuthProviderServer
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let copies: ReadonlyArray<Grants>
  const scope = Effect.runSync(Scope.make())

  /** What one process has of it. */
  const copy = () =>
    Layer.buildWithScope(
      Grants.Default.pipe(
        Layer.provide(testLayers(service.database.url, { DATA_DIR: service.dataDir, ...server.environment }))
      ),
      scope
    ).pipe(
      Effect.flatMap((built) => Effect.provide(Grants, built)),
      Effect.runPromise
    )
  beforeAll(async () => {
    server = await startOAuthProvider()
    service = await startService(server.environment)
    pool = openPool(service.database.url)
    tenant = await service.newTenant()
    copies = [await copy(), await copy()]
  })
  afterEach(() => {
    server.answer("/token", undefined)
    server.setDelay(0)
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await pool.end()
    await service.stop()
    await server.stop()
  })
  const ours = () => authorizationClient(service, server, tenant)
  const grants = (number = 0) => copies[number] ?? assert.fail("no such copy")
  const accessOf = (id: string, number = 0) => Effect.runPromise(grants(number).getAccess(TenantId.make(tenant), id))
  const renew = (id: string, used: string) => Effect.runPromise(grants().renewAccess(TenantId.make(tenant), id, used))
  const failureOf = async (work: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) => {
    const exit = await Effect.runPromiseExit(work)
    const failure = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
    return failure?._tag ?? assert.fail(`no failure but ${JSON.stringify(exit)}`)
  }
  const faultOf = (id: string) => failureOf(grants().getAccess(TenantId.make(tenant), id))
  const expireIn = (id: string, seconds: number) =>
    pool.query("update grants set expires_at = now() + make_interval(secs => $2) where integration_id = $1", [
      id,
      seconds
    ])
  const expired = async (fields: object = minimalDrive) => {
    const id = await ours().authorized(fields)
    await expireIn(id, -1)
    return id
  }
  const refreshes = () => server.askedFor("/token").filter(({ fields }) => fields["grant_type"] === "refresh_token")
  const generationOf = async (id: string) => {
    const { rows } = await pool.query<{ generation: number }>(
      "select generation from grants where integration_id = $1",
      [id]
    )
    return rows[0]?.generation
  }

  it("is what was granted while that is good for more than a minute", async () => {
    const id = await ours().authorized(minimalJira)
    const before = refreshes().length
    const access = await accessOf(id)
    assert.deepStrictEqual(access, {
      accessToken: server.issued.at(-2) ?? "",
      siteId: "site-1",
      siteUrl: "https://one.example.test"
    })
    await expireIn(id, 65)
    assert.deepStrictEqual(await accessOf(id), access)
    assert.strictEqual(refreshes().length, before)
    await expireIn(id, 55)
    assert.notStrictEqual((await accessOf(id)).accessToken, access.accessToken)
    assert.strictEqual(refreshes().length, before + 1)
  })

  it("is renewed with every token it gets, one after the other", async () => {
    const id = await expired(minimalJira)
    for (const generation of [2, 3, 4]) {
      const { accessToken, siteId } = await accessOf(id)
      assert.deepStrictEqual([accessToken, siteId], [server.issued.at(-2), "site-1"])
      assert.strictEqual(await generationOf(id), generation)
      await expireIn(id, -1)
    }
    assert.isTrue((await ours().shown(id)).isAuthorized)
  })

  it("is renewed once for all who ask at once, in one process and in several", async () => {
    const id = await expired()
    server.setDelay(200)
    const before = refreshes().length
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => accessOf(id, n % 2)))
    assert.strictEqual(refreshes().length, before + 1)
    assert.deepStrictEqual(new Set(all.map(({ accessToken }) => accessToken)), new Set([server.issued.at(-2)]))
    assert.strictEqual(await generationOf(id), 2)
  })

  it("keeps the refresh token of a provider that sends none again", async () => {
    const id = await expired()
    for (const accessToken of ["second", "third"]) {
      server.answer("/token", { status: 200, body: { access_token: accessToken, expires_in: 3600 } })
      assert.strictEqual((await accessOf(id)).accessToken, accessToken)
      await expireIn(id, -1)
    }
    const [first, second] = refreshes().slice(-2)
    assert.strictEqual(first?.fields["refresh_token"], second?.fields["refresh_token"])
  })

  it("is renewed before its time when the provider would not have it, once", async () => {
    const id = await ours().authorized()
    const { accessToken } = await accessOf(id)
    const before = refreshes().length
    const [a, b] = await Promise.all([renew(id, accessToken), renew(id, accessToken)])
    assert.notStrictEqual(a?.accessToken, accessToken)
    assert.deepStrictEqual(a, b)
    assert.deepStrictEqual(await renew(id, accessToken), a, "who comes late is given what there is")
    assert.strictEqual(refreshes().length, before + 1)
  })

  it.each([
    [minimalDrive, { status: 400, body: { error: "invalid_grant" } }, "Google Drive"],
    [minimalJira, { status: 403, body: { error: "invalid_grant", error_description: "planted words" } }, "Jira"],
    [minimalJira, { status: 400, body: { error: "unauthorized_client" } }, "Jira"]
  ])("is lost when it is withdrawn, as the integration then says: %j", async (fields, answer, name) => {
    const id = await expired(fields)
    server.answer("/token", answer)
    assert.strictEqual(await faultOf(id), "GrantLost")
    const { isAuthorized, status, statusReason = "" } = await ours().shown(id)
    assert.deepStrictEqual([isAuthorized, status], [false, "ERROR"])
    assert.include(statusReason, name)
    assert.include(statusReason, "Authorize again")
    assert.notInclude(statusReason, "planted")
    assert.strictEqual((await eventsOf(pool, id)).at(-1)?.type, "integration.error")
    assert.isUndefined(await generationOf(id))
    const asked = refreshes().length
    assert.strictEqual(await faultOf(id), "GrantLost")
    assert.strictEqual(refreshes().length, asked, "what is lost is not asked for again")
    server.answer("/token", undefined)
    await ours().callback(await ours().consented(id), "owner")
    assert.deepInclude(await ours().shown(id), { isAuthorized: true, status: "ACTIVE" })
    assert.notProperty(await ours().shown(id), "statusReason")
    await accessOf(id)
  })

  it("is lost once for all who ask at once", async () => {
    const id = await expired()
    server.answer("/token", { status: 400, body: { error: "invalid_grant" } })
    server.setDelay(100)
    const faults = await Promise.all(
      [0, 1, 0, 1].map((number) => failureOf(grants(number).getAccess(TenantId.make(tenant), id)))
    )
    assert.deepStrictEqual(new Set(faults), new Set(["GrantLost"]))
    assert.lengthOf(
      (await eventsOf(pool, id)).filter(({ type }) => type === "integration.error"),
      1
    )
  })

  it.each([
    { status: 500, body: {} },
    { status: 503, body: { error: "invalid_grant" } },
    { status: 429, body: {} },
    { status: 401, body: { error: "invalid_client" } },
    { status: 200, body: "nonsense" }
  ])("waits for a provider in trouble: %j", async (answer) => {
    const id = await expired()
    server.answer("/token", answer)
    assert.strictEqual(await faultOf(id), "ProviderUnavailable")
    assert.deepInclude(await ours().shown(id), { isAuthorized: true, status: "ACTIVE" })
    server.answer("/token", undefined)
    await accessOf(id)
  })

  it("waits for a provider that does not answer, not for long", { timeout: 30_000 }, async () => {
    const id = await expired()
    server.answer("/token", "silence")
    const started = performance.now()
    assert.strictEqual(await faultOf(id), "ProviderUnavailable")
    assert.isBelow(performance.now() - started, 13_000)
    server.answer("/token", undefined)
    await accessOf(id)
  })

  it("is none for who was never authorized, and none that is not there", async () => {
    const { id } = await ours().made(minimalDrive)
    assert.strictEqual(await faultOf(id), "GrantLost")
    assert.strictEqual(await faultOf(`int_${"0".repeat(26)}`), "GrantLost")
    assert.deepInclude(await ours().shown(id), { status: "PENDING_AUTH" })
  })

  it("is bound to its row and to its generation", async () => {
    const [one, other] = [await ours().authorized(), await ours().authorized()]
    await pool.query(
      "update grants set access = theirs.access from grants theirs where grants.integration_id = $1 and theirs.integration_id = $2",
      [one, other]
    )
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(grants().getAccess(TenantId.make(tenant), one))))
    await accessOf(other)
    await pool.query("update grants set generation = generation + 1 where integration_id = $1", [other])
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(grants().getAccess(TenantId.make(tenant), other))))
  })
})
