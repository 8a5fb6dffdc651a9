import { decodeProtectedHeader } from "jose"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { startIdentityProvider } from "../../support/servers/identityProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const audience = "https://contracting.test"

/** The time the key set is kept in any case, and the time a verified token is remembered, both with a second to spare. */
const pastCooldown = 31_000
const pastMemory = 61_000

describe("a service of a real identity provider", () => {
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

  const ways = [
    { finds: "by its discovery document", environment: () => ({ AUTH_ISSUER: provider.issuer }) },
    { finds: "at AUTH_JWKS_URL", environment: () => ({ AUTH_JWKS_URL: provider.jwksUrl }) },
    {
      finds: "at AUTH_JWKS_URL with AUTH_ISSUER",
      environment: () => ({ AUTH_JWKS_URL: provider.jwksUrl, AUTH_ISSUER: provider.issuer })
    }
  ]
  for (const { environment, finds } of ways) {
    it(`finds the keys ${finds} and takes tokens meant for it alone`, async () => {
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

  it("follows the provider to a new key, and asks for keys no more than every half minute", async () => {
    const service = await start({ AUTH_ISSUER: provider.issuer })
    const before = await provider.tokenFor(audience)
    assert.strictEqual(await statusFor(service, before), 201)

    await provider.rotate()
    const after = await provider.tokenFor(audience)
    assert.notStrictEqual(decodeProtectedHeader(after).kid, decodeProtectedHeader(before).kid)
    assert.strictEqual(await statusFor(service, after), 401, "the keys were fetched a moment ago")

    const rotated = Date.now()
    vi.setSystemTime(rotated + pastCooldown)
    assert.strictEqual(await statusFor(service, after), 201, "the unknown key made the service look again")
    assert.strictEqual(await statusFor(service, before), 201, "verified less than a minute ago")

    vi.setSystemTime(rotated + pastMemory)
    assert.strictEqual(await statusFor(service, before), 401, "its key is gone")
    assert.strictEqual(await statusFor(service, after), 201)
  })
})
