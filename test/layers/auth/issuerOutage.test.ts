import type { RequestListener } from "node:http"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { makeSigningKey, nowSeconds, type SigningKey, signToken } from "../../support/fixtures/signingKeys.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { type Issuer, startIssuer } from "../../support/servers/tokenIssuer.ts"

const audience = "https://contracting.test"
const unavailable = `{"error":"ServiceUnavailable","message":"Service Unavailable"}`

const answering =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(body)

const troubles: Readonly<Record<string, RequestListener>> = {
  "hangs up": (request) => request.socket.destroy(),
  "has a fault": answering(500, ""),
  "is not there": answering(404, ""),
  "is behind a page for people": answering(200, "<html>Sorry</html>", { "content-type": "text/html" }),
  "answers without what was asked for": answering(200, "{}", { "content-type": "application/json" }),
  "sends elsewhere": answering(302, "", { location: "http://127.0.0.1:9/" })
}

describe("while the issuer is in trouble", () => {
  let key: SigningKey
  const toStop: Array<{ readonly stop: () => Promise<void> }> = []
  beforeAll(async () => {
    key = await makeSigningKey("ES256")
  })
  afterEach(() => void vi.useRealTimers())
  afterAll(async () => {
    for (const one of toStop.reverse()) await one.stop()
  })

  const newIssuer = async () => {
    const issuer = await startIssuer(key.jwk)
    toStop.push(issuer)
    return issuer
  }
  const newService = async (environment: Readonly<Record<string, string>>) => {
    const service = await startService({ AUTH_AUDIENCE: audience, ...environment })
    toStop.push(service)
    return service
  }
  const tokenOf = (issuer: Pick<Issuer, "url">, subject = "alice", from = key) =>
    signToken(from, { iss: issuer.url, aud: audience, sub: subject, exp: nowSeconds() + 3600 })
  const create = (service: Service, token: string) =>
    service.api("POST", "/tenants", { as: token, body: { name: "Tenant" } })
  const tell = async (service: Service, token: string) => {
    const { headers, status, text } = await create(service, token)
    return { status, text, retryAfter: headers.has("retry-after") }
  }

  const ways = {
    "its discovery document": (issuer: Issuer) => ({ AUTH_ISSUER: issuer.url }),
    "its keys": (issuer: Issuer) => ({ AUTH_ISSUER: issuer.url, AUTH_JWKS_URL: issuer.jwksUrl })
  }
  for (const [what, environment] of Object.entries(ways)) {
    it(`and ${what} cannot be had, a caller is told to try again, and served when it is back`, async () => {
      const issuer = await newIssuer()
      const service = await newService(environment(issuer))
      const token = await tokenOf(issuer)
      for (const [trouble, listener] of Object.entries(troubles)) {
        issuer.state.trouble = listener
        const told = await tell(service, token)
        assert.deepStrictEqual(told, { status: 503, text: unavailable, retryAfter: true }, `the issuer ${trouble}`)
      }
      issuer.state.trouble = undefined
      assert.strictEqual((await create(service, token)).status, 201)
    })
  }

  it("and nobody listens at its address, a caller is told to try again", async () => {
    const gone = await serveOnLoopback(() => {})
    await gone.stop()
    const service = await newService({ AUTH_ISSUER: gone.url })
    assert.deepInclude(await tell(service, await tokenOf(gone)), { status: 503, retryAfter: true })
  })

  it("what is wrong with the token alone is still said at once", async () => {
    const issuer = await newIssuer()
    issuer.state.trouble = answering(500, "")
    const service = await newService({ AUTH_ISSUER: issuer.url })
    assert.strictEqual((await create(service, "no.token.atall")).status, 401)
  })

  it("those whose key is known already are served", async () => {
    const issuer = await newIssuer()
    const service = await newService({ AUTH_ISSUER: issuer.url })
    assert.strictEqual((await create(service, await tokenOf(issuer, "alice"))).status, 201)
    issuer.state.trouble = answering(500, "")
    assert.strictEqual((await create(service, await tokenOf(issuer, "bob"))).status, 201)
  })

  it("those whose key was known last are served for hours, and an unknown key is still asked for", async () => {
    const issuer = await newIssuer()
    const service = await newService({ AUTH_ISSUER: issuer.url })
    assert.strictEqual((await create(service, await tokenOf(issuer, "alice"))).status, 201)
    const next = await makeSigningKey("ES256", "next")
    issuer.state.keys = [key.jwk, next.jwk]
    let asked = 0
    issuer.state.trouble = (request) => {
      asked += 1
      request.socket.destroy()
    }
    const began = Date.now()
    const hour = 60 * 60_000
    for (const hours of [0.5, 2, 5]) {
      vi.setSystemTime(began + hours * hour)
      for (const subject of ["bob", "carol", "dave"]) {
        const { status } = await create(service, await tokenOf(issuer, `${subject}${hours}`))
        assert.strictEqual(status, 201, `${subject} after ${hours} hours`)
      }
    }
    assert.strictEqual(asked, 3, "an issuer that is away is not asked for everybody")
    assert.strictEqual((await create(service, await tokenOf(issuer, "erin", next))).status, 503)
    assert.strictEqual(asked, 4)
    issuer.state.trouble = undefined
    assert.strictEqual((await create(service, await tokenOf(issuer, "erin", next))).status, 201)

    issuer.state.trouble = answering(500, "")
    vi.setSystemTime(began + 12 * hour)
    assert.strictEqual((await create(service, await tokenOf(issuer, "frank"))).status, 503, "but not for ever")
  })

  it("a discovery document that speaks for someone else is never believed", async () => {
    const issuer = await newIssuer()
    const other = await newIssuer()
    issuer.state.discovery = { issuer: other.url, jwks_uri: other.jwksUrl }
    const service = await newService({ AUTH_ISSUER: issuer.url })
    for (const named of [issuer, other]) {
      assert.strictEqual((await create(service, await tokenOf(named))).status, 503)
    }
    issuer.state.discovery = { issuer: `${issuer.url}/`, jwks_uri: issuer.jwksUrl }
    assert.strictEqual((await create(service, await tokenOf(issuer))).status, 503)
  })

  it("keys taken back are forgotten within the time they are kept", async () => {
    const issuer = await newIssuer()
    const service = await newService({ AUTH_ISSUER: issuer.url })
    assert.strictEqual((await create(service, await tokenOf(issuer))).status, 201)
    const next = await makeSigningKey("ES256", "next")
    issuer.state.keys = [next.jwk]
    vi.setSystemTime(Date.now() + 10 * 60_000 + 1000)
    assert.strictEqual((await create(service, await tokenOf(issuer))).status, 401)
    assert.strictEqual((await create(service, await tokenOf(issuer, "alice", next))).status, 201)
  })
})
