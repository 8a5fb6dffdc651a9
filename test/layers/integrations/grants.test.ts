import { Cause, Effect, Exit, Layer, Option, Scope } from "effect"
import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Grants } from "../../../src/layers/integrations/authorization/Grants.ts"
import { authorizationClient, minimalDrive, minimalJira } from "../../support/fixtures/authorizations.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually } from "../../support/servers/worker.ts"

describe("Grants", () => {
  let server: OAuthProviderServer
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let processes: ReadonlyArray<Grants>
  const scope = Effect.runSync(Scope.make())

  /** The service as another process builds it. */
  const startProcess = () =>
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
    processes = [await startProcess(), await startProcess()]
  })
  afterEach(() => {
    server.overrideResponse("/token", undefined)
    server.setDelay(0)
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await pool.end()
    await service.stop()
    await server.stop()
  })
  const client = () => authorizationClient(service, server, tenant)
  const grants = (process = 0) => processes[process] ?? assert.fail("no such process")
  const getAccess = (id: string, process = 0) => Effect.runPromise(grants(process).getAccess(TenantId.make(tenant), id))
  const renewAccess = (id: string, used: string) =>
    Effect.runPromise(grants().renewAccess(TenantId.make(tenant), id, used))
  const runToErrorTag = async (work: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) => {
    const exit = await Effect.runPromiseExit(work)
    const failure = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
    return failure?._tag ?? assert.fail(`expected a failure instead of ${JSON.stringify(exit)}`)
  }
  const getAccessError = (id: string) => runToErrorTag(grants().getAccess(TenantId.make(tenant), id))
  const expireIn = (id: string, seconds: number) =>
    pool.query("update grants set expires_at = now() + make_interval(secs => $2) where integration_id = $1", [
      id,
      seconds
    ])
  const authorizeExpired = async (fields: object = minimalDrive) => {
    const id = await client().createAuthorized(fields)
    await expireIn(id, -1)
    return id
  }
  const refreshRequests = () =>
    server.requestsTo("/token").filter(({ fields }) => fields["grant_type"] === "refresh_token")
  const generationOf = async (id: string) => {
    const { rows } = await pool.query<{ generation: number }>(
      "select generation from grants where integration_id = $1",
      [id]
    )
    return rows[0]?.generation
  }

  it("getAccess returns the stored token until a minute before its expiry", async () => {
    const id = await client().createAuthorized(minimalJira)
    const before = refreshRequests().length
    const access = await getAccess(id)
    assert.deepStrictEqual(access, {
      accessToken: server.issued.at(-2) ?? "",
      siteId: "site-1",
      siteUrl: "https://one.example.test"
    })
    await expireIn(id, 65)
    assert.deepStrictEqual(await getAccess(id), access)
    assert.strictEqual(refreshRequests().length, before)
    await expireIn(id, 55)
    assert.notStrictEqual((await getAccess(id)).accessToken, access.accessToken)
    assert.strictEqual(refreshRequests().length, before + 1)
  })

  it("getAccess renews an expired token with the latest refresh token", async () => {
    const id = await authorizeExpired(minimalJira)
    for (const generation of [2, 3, 4]) {
      const { accessToken, siteId } = await getAccess(id)
      assert.deepStrictEqual([accessToken, siteId], [server.issued.at(-2), "site-1"])
      assert.strictEqual(await generationOf(id), generation)
      await expireIn(id, -1)
    }
    assert.isTrue((await client().read(id)).isAuthorized)
  })

  it("getAccess renews an expired token once for concurrent callers in several processes", async () => {
    const id = await authorizeExpired()
    server.setDelay(200)
    const before = refreshRequests().length
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => getAccess(id, n % 2)))
    assert.strictEqual(refreshRequests().length, before + 1)
    assert.deepStrictEqual(new Set(results.map(({ accessToken }) => accessToken)), new Set([server.issued.at(-2)]))
    assert.strictEqual(await generationOf(id), 2)
  })

  it("getAccess keeps the refresh token if the provider sends no new one", async () => {
    const id = await authorizeExpired()
    for (const accessToken of ["second", "third"]) {
      server.overrideResponse("/token", { status: 200, body: { access_token: accessToken, expires_in: 3600 } })
      assert.strictEqual((await getAccess(id)).accessToken, accessToken)
      await expireIn(id, -1)
    }
    const [first, second] = refreshRequests().slice(-2)
    assert.strictEqual(first?.fields["refresh_token"], second?.fields["refresh_token"])
  })

  it("renewAccess renews a rejected token once for concurrent callers", async () => {
    const id = await client().createAuthorized()
    const { accessToken } = await getAccess(id)
    const before = refreshRequests().length
    const [a, b] = await Promise.all([renewAccess(id, accessToken), renewAccess(id, accessToken)])
    assert.notStrictEqual(a?.accessToken, accessToken)
    assert.deepStrictEqual(a, b)
    assert.deepStrictEqual(await renewAccess(id, accessToken), a, "a later caller gets the renewed token")
    assert.strictEqual(refreshRequests().length, before + 1)
  })

  it.each([
    ["Google Drive", { status: 400, body: { error: "invalid_grant" } }, minimalDrive],
    ["Jira", { status: 403, body: { error: "invalid_grant", error_description: "secret words" } }, minimalJira],
    ["Jira", { status: 400, body: { error: "unauthorized_client" } }, minimalJira]
  ])(
    "getAccess fails with GrantLost and moves the integration to ERROR if %s answers %j",
    async (name, response, fields) => {
      const id = await authorizeExpired(fields)
      server.overrideResponse("/token", response)
      assert.strictEqual(await getAccessError(id), "GrantLost")
      const { isAuthorized, status, statusReason = "" } = await client().read(id)
      assert.deepStrictEqual([isAuthorized, status], [false, "ERROR"])
      assert.include(statusReason, name)
      assert.include(statusReason, "Authorize again")
      assert.notInclude(statusReason, "secret")
      assert.strictEqual((await eventsOf(pool, id)).at(-1)?.type, "integration.error")
      assert.isUndefined(await generationOf(id))
      const requestCount = refreshRequests().length
      assert.strictEqual(await getAccessError(id), "GrantLost")
      assert.strictEqual(refreshRequests().length, requestCount, "a lost grant is requested again")
      server.overrideResponse("/token", undefined)
      await client().callback(await client().consent(id), "owner")
      assert.deepInclude(await client().read(id), { isAuthorized: true, status: "ACTIVE" })
      assert.notProperty(await client().read(id), "statusReason")
      await getAccess(id)
    }
  )

  it("getAccess records one integration.error event for concurrent callers of a revoked grant", async () => {
    const id = await authorizeExpired()
    server.overrideResponse("/token", { status: 400, body: { error: "invalid_grant" } })
    server.setDelay(100)
    const errors = await Promise.all(
      [0, 1, 0, 1].map((process) => runToErrorTag(grants(process).getAccess(TenantId.make(tenant), id)))
    )
    assert.deepStrictEqual(new Set(errors), new Set(["GrantLost"]))
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
  ])("getAccess fails with ProviderUnavailable and keeps the grant if the provider fails: %j", async (response) => {
    const id = await authorizeExpired()
    server.overrideResponse("/token", response)
    assert.strictEqual(await getAccessError(id), "ProviderUnavailable")
    assert.deepInclude(await client().read(id), { isAuthorized: true, status: "ACTIVE" })
    server.overrideResponse("/token", undefined)
    await getAccess(id)
  })

  it("getAccess fails with ProviderUnavailable if the provider does not answer in time", async () => {
    const id = await authorizeExpired()
    server.overrideResponse("/token", "silence")
    // The test fires the timeout, which is ten seconds otherwise.
    const controller = new AbortController()
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(controller.signal)
    onTestFinished(() => timeout.mockRestore())
    const requestCount = refreshRequests().length
    const error = getAccessError(id)
    await eventually(() => refreshRequests().length > requestCount, "the refresh request is sent")
    assert.deepStrictEqual(timeout.mock.calls, [[10_000]])
    controller.abort(new DOMException("", "TimeoutError"))
    assert.strictEqual(await error, "ProviderUnavailable")
    timeout.mockRestore()
    server.overrideResponse("/token", undefined)
    await getAccess(id)
  })

  it("getAccess fails with GrantLost for an unauthorized and for a missing integration", async () => {
    const { id } = await client().mustCreate(minimalDrive)
    assert.strictEqual(await getAccessError(id), "GrantLost")
    assert.strictEqual(await getAccessError(`int_${"0".repeat(26)}`), "GrantLost")
    assert.deepInclude(await client().read(id), { status: "PENDING_AUTH" })
  })

  it("getAccess rejects a stored token that was copied to another row or generation", async () => {
    const [one, other] = [await client().createAuthorized(), await client().createAuthorized()]
    await pool.query(
      "update grants set access = theirs.access from grants theirs where grants.integration_id = $1 and theirs.integration_id = $2",
      [one, other]
    )
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(grants().getAccess(TenantId.make(tenant), one))))
    await getAccess(other)
    await pool.query("update grants set generation = generation + 1 where integration_id = $1", [other])
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(grants().getAccess(TenantId.make(tenant), other))))
  })
})
