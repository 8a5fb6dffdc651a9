import { decodeProtectedHeader } from "jose"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { startIdentityProvider } from "../../../support/servers/identityProvider.ts"
import { type Service, startService } from "../../../support/servers/service.ts"

const audience = "https://contracting.test"

/** A second more than the minimum age of the key set before a refetch, and than the age of a cached token. */
const afterCooldownMs = 31_000
const afterTokenCacheMs = 61_000

describe("A service with an OpenID Connect provider", () => {
  let provider: Awaited<ReturnType<typeof startIdentityProvider>>
  const services: Array<Service> = []
  beforeAll(async () => {
    provider = await startIdentityProvider()
  })
  afterEach(() => void vi.useRealTimers())
  afterAll(async () => {
    for (const service of services) await service.stop()
    await provider.stop()
  })

  const start = async (environment: Readonly<Record<string, string>>) => {
    const service = await startService({ AUTH_AUDIENCE: audience, ...environment })
    services.push(service)
    return service
  }
  const statusFor = async (service: Service, token: string) =>
    (await service.api("POST", "/tenants", { as: token, body: { name: "Tenant" } })).status

  const configurations = [
    { name: "AUTH_ISSUER", environment: () => ({ AUTH_ISSUER: provider.issuer }) },
    { name: "AUTH_JWKS_URL", environment: () => ({ AUTH_JWKS_URL: provider.jwksUrl }) },
    {
      name: "AUTH_JWKS_URL and AUTH_ISSUER",
      environment: () => ({ AUTH_JWKS_URL: provider.jwksUrl, AUTH_ISSUER: provider.issuer })
    }
  ]
  for (const { environment, name } of configurations) {
    it(`finds the keys by ${name} and accepts only tokens for its audience`, async () => {
      const service = await start(environment())
      const token = await provider.tokenFor(audience)
      const created = await service.api("POST", "/tenants", { as: token, body: { name: "Tenant" } })
      assert.strictEqual(created.status, 201)

      const listed = await service.api("GET", "/members", { as: token, tenant: created.body.data.id })
      assert.lengthOf(listed.body.data, 1)
      assert.deepInclude(listed.body.data[0], { issuer: provider.issuer, subject: provider.subject, role: "OWNER" })

      assert.strictEqual(await statusFor(service, await provider.tokenFor("https://elsewhere.test")), 401)
      assert.strictEqual(await statusFor(service, await service.token("developer")), 401)
    })
  }

  it("fetches a rotated key at most every 30 seconds", async () => {
    const service = await start({ AUTH_ISSUER: provider.issuer })
    const before = await provider.tokenFor(audience)
    assert.strictEqual(await statusFor(service, before), 201)

    await provider.rotate()
    const after = await provider.tokenFor(audience)
    assert.notStrictEqual(decodeProtectedHeader(after).kid, decodeProtectedHeader(before).kid)
    assert.strictEqual(await statusFor(service, after), 401, "the cooldown after the last fetch has not passed")

    const rotatedAt = Date.now()
    vi.setSystemTime(rotatedAt + afterCooldownMs)
    assert.strictEqual(await statusFor(service, after), 201, "the unknown key triggers a fetch")
    assert.strictEqual(await statusFor(service, before), 201, "the verified token is cached")

    vi.setSystemTime(rotatedAt + afterTokenCacheMs)
    assert.strictEqual(await statusFor(service, before), 401, "the old key is no longer published")
    assert.strictEqual(await statusFor(service, after), 201)
  })
})
