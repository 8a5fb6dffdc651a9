import type { RequestListener } from "node:http"
import { afterEach, assert, describe, it, onTestFinished, vi } from "vitest"
import { makeSigningKey, nowSeconds, type SigningKey, signToken } from "../../../support/fixtures/signingKeys.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startProxy } from "../../../support/servers/proxy.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { type Issuer, startIssuer } from "../../../support/servers/tokenIssuer.ts"

const audience = "https://contracting.test"
const unavailable = `{"error":"ServiceUnavailable","message":"Service Unavailable"}`

const respondWith =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(body)

const outages: ReadonlyArray<readonly [name: string, listener: RequestListener]> = [
  ["closes the connection", (request) => request.socket.destroy()],
  ["responds 500", respondWith(500, "")],
  ["responds 404", respondWith(404, "")],
  ["responds with an HTML page", respondWith(200, "<html>Sorry</html>", { "content-type": "text/html" })],
  ["responds with an empty JSON object", respondWith(200, "{}", { "content-type": "application/json" })],
  ["redirects elsewhere", respondWith(302, "", { location: "http://127.0.0.1:9/" })]
]

const create = (service: Service, token: string) =>
  service.api("POST", "/tenants", { as: token, body: { name: "Tenant" } })
const statusFor = async (service: Service, token: string) => (await create(service, token)).status

/** Lets the listener respond to all requests for the rest of the test. */
const setOutage = ({ state }: Issuer, listener: RequestListener) => {
  state.override = listener
  onTestFinished(() => {
    state.override = undefined
  })
}

/** An issuer behind a proxy, and a service that has not fetched its keys yet. */
const start = async (settingsOf: (url: string) => Readonly<Record<string, string>>) => {
  const key = await makeSigningKey("ES256")
  const issuer = await startIssuer(key.jwk)
  const proxy = await startProxy(issuer.url)
  const url = new URL(proxy.url).origin
  issuer.state.discovery = { issuer: url, jwks_uri: `${url}/jwks` }
  const service = await startService({ AUTH_AUDIENCE: audience, ...settingsOf(url) })
  const tokenOf = (subject = "alice", signer: SigningKey = key, iss = url) =>
    signToken(signer, { iss, aud: audience, sub: subject, exp: nowSeconds() + 3600 })
  const stop = async () => {
    await service.stop()
    await proxy.stop()
    await issuer.stop()
  }
  return { issuer, key, proxy, service, tokenOf, url, stop }
}

type Started = Awaited<ReturnType<typeof start>>

const testOutages = (at: () => Started) => {
  const assertUnavailable = async () => {
    const { service, tokenOf } = at()
    const { headers, status, text } = await create(service, await tokenOf())
    assert.deepStrictEqual([status, text, headers.has("retry-after")], [503, unavailable, true])
  }

  it.each(outages)("responds 503 while the issuer %s", async (_, listener) => {
    setOutage(at().issuer, listener)
    await assertUnavailable()
  })

  it("responds 503 while the issuer refuses connections", async () => {
    const { proxy } = at()
    await proxy.disconnect()
    onTestFinished(() => proxy.restore())
    await assertUnavailable()
  })

  it("responds 401 to a malformed token while the issuer responds 500", async () => {
    const { issuer, service } = at()
    setOutage(issuer, respondWith(500, ""))
    assert.strictEqual(await statusFor(service, "no.token.atall"), 401)
  })

  // Last, because the service then caches the keys.
  it("accepts a token after the issuer has recovered", async () => {
    const { service, tokenOf } = at()
    assert.strictEqual(await statusFor(service, await tokenOf()), 201)
  })
}

describe("A service with AUTH_ISSUER", () => {
  const at = useFixture(() => start((url) => ({ AUTH_ISSUER: url })))

  it("responds 503 while the discovery document names another issuer", async () => {
    const { issuer, key, service, tokenOf, url } = at()
    const other = await startIssuer(key.jwk)
    const { discovery } = issuer.state
    onTestFinished(async () => {
      issuer.state.discovery = discovery
      await other.stop()
    })
    issuer.state.discovery = { issuer: other.url, jwks_uri: other.jwksUrl }
    for (const iss of [url, other.url]) {
      assert.strictEqual(await statusFor(service, await tokenOf("alice", key, iss)), 503)
    }
    issuer.state.discovery = { ...discovery, issuer: `${url}/` }
    assert.strictEqual(await statusFor(service, await tokenOf()), 503)
  })

  testOutages(at)
})

describe("A service with AUTH_ISSUER and AUTH_JWKS_URL", () => {
  testOutages(useFixture(() => start((url) => ({ AUTH_ISSUER: url, AUTH_JWKS_URL: `${url}/jwks` }))))
})

describe("A service that has cached the keys of its issuer", () => {
  afterEach(() => void vi.useRealTimers())

  const startWithCachedKeys = async () => {
    const started = await start((url) => ({ AUTH_ISSUER: url }))
    onTestFinished(started.stop)
    assert.strictEqual(await statusFor(started.service, await started.tokenOf()), 201)
    return started
  }

  it("accepts tokens with a cached key for hours of an outage and still fetches unknown keys", async () => {
    const { issuer, key, service, tokenOf } = await startWithCachedKeys()
    const next = await makeSigningKey("ES256", "next")
    issuer.state.keys = [key.jwk, next.jwk]
    let fetches = 0
    setOutage(issuer, (request) => {
      fetches += 1
      request.socket.destroy()
    })
    const startedAt = Date.now()
    const hour = 60 * 60_000
    for (const hours of [0, 0.5, 2, 5]) {
      vi.setSystemTime(startedAt + hours * hour)
      for (const subject of ["bob", "carol", "dave"]) {
        const status = await statusFor(service, await tokenOf(`${subject}${hours}`))
        assert.strictEqual(status, 201, `${subject} after ${hours} hours`)
      }
    }
    assert.strictEqual(fetches, 3, "one fetch per expiry of the cache, not per token")
    assert.strictEqual(await statusFor(service, await tokenOf("erin", next)), 503)
    assert.strictEqual(fetches, 4)
    issuer.state.override = undefined
    assert.strictEqual(await statusFor(service, await tokenOf("erin", next)), 201)

    setOutage(issuer, respondWith(500, ""))
    vi.setSystemTime(startedAt + 12 * hour)
    assert.strictEqual(await statusFor(service, await tokenOf("frank")), 503, "the cached keys expire in the end")
  })

  it("rejects a key that the issuer withdrew once the cache expires", async () => {
    const { issuer, service, tokenOf } = await startWithCachedKeys()
    const next = await makeSigningKey("ES256", "next")
    issuer.state.keys = [next.jwk]
    vi.setSystemTime(Date.now() + 10 * 60_000 + 1000)
    assert.strictEqual(await statusFor(service, await tokenOf()), 401)
    assert.strictEqual(await statusFor(service, await tokenOf("alice", next)), 201)
  })
})
