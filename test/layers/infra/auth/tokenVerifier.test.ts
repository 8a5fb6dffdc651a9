import { exportSPKI, SignJWT, UnsecuredJWT } from "jose"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import {
  type Claims,
  criticalExtension,
  makeSigningKey,
  nowSeconds,
  type SigningKey,
  signToken
} from "../../../support/fixtures/signingKeys.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { type Issuer, startIssuer } from "../../../support/servers/tokenIssuer.ts"

const audience = "https://contracting.test"
const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "RS512"] as const
type Algorithm = (typeof algorithms)[number]

describe("Bearer authentication", () => {
  let issuer: Issuer
  let service: Service
  let keys: Readonly<Record<Algorithm, SigningKey>>
  beforeAll(async () => {
    const entries = await Promise.all(algorithms.map(async (alg) => [alg, await makeSigningKey(alg)] as const))
    keys = Object.fromEntries(entries) as typeof keys // one entry per algorithm
    issuer = await startIssuer(...Object.values(keys).map(({ jwk }) => jwk))
    service = await startService({ AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: audience })
  })
  afterEach(() => void vi.useRealTimers())
  afterAll(async () => {
    await service.stop()
    await issuer.stop()
  })

  const validClaims = () => ({ iss: issuer.url, aud: audience, sub: "alice", exp: nowSeconds() + 600 })
  const token = (claims: Claims = {}, alg: Algorithm = "ES256", header = {}) =>
    signToken(keys[alg], { ...validClaims(), ...claims }, header)
  const list = (authorization?: string) =>
    service.api("GET", "/tenants", authorization === undefined ? {} : { headers: { authorization } })
  const statusOf = async (text: string) => (await list(`Bearer ${text}`)).status

  const accepted: Readonly<Record<string, () => Promise<string>>> = {
    "an RS256 signature": async () => `Bearer ${await token({}, "RS256")}`,
    "a PS256 signature": async () => `Bearer ${await token({}, "PS256")}`,
    "an ES256 signature": async () => `Bearer ${await token({}, "ES256")}`,
    "an EdDSA signature": async () => `Bearer ${await token({}, "EdDSA")}`,
    "a scheme in lower case": async () => `bearer ${await token()}`,
    "a scheme in upper case": async () => `BEARER ${await token()}`,
    "several audiences including the service": async () =>
      `Bearer ${await token({ aud: ["https://a.test", audience] })}`,
    "no typ header": async () => `Bearer ${await token({}, "ES256", { typ: undefined })}`,
    "no kid header": async () => `Bearer ${await token({}, "ES256", { kid: undefined })}`,
    "an nbf in the past": async () => `Bearer ${await token({ nbf: nowSeconds() - 5 })}`,
    "a subject of 255 characters": async () => `Bearer ${await token({ sub: "s".repeat(255) })}`
  }
  for (const [what, authorization] of Object.entries(accepted)) {
    it(`accepts a token with ${what}`, async () => {
      assert.strictEqual((await list(await authorization())).status, 200)
    })
  }

  const hmac = async (secret: string) =>
    new SignJWT(validClaims())
      .setProtectedHeader({ alg: "HS256", kid: "RS256", typ: "at+jwt" })
      .sign(new TextEncoder().encode(secret))
  const forged = async (header: object = {}) => signToken({ ...(await makeSigningKey("ES256")) }, validClaims(), header)
  const tampered = async (claims: Claims) => {
    const [header, , signature] = (await token()).split(".")
    return [header, Buffer.from(JSON.stringify({ ...validClaims(), ...claims })).toString("base64url"), signature].join(
      "."
    )
  }

  const rejected: Readonly<Record<string, () => string | undefined | Promise<string>>> = {
    "a missing header": () => undefined,
    "an empty header": () => "",
    "a scheme without a token": () => "Bearer",
    "another scheme": () => `Basic ${Buffer.from("alice:secret").toString("base64")}`,
    "a token without a scheme": async () => token(),
    "two tokens": async () => `Bearer ${await token()} ${await token()}`,
    "two tokens separated by a comma": async () => `Bearer ${await token()}, Bearer ${await token()}`,
    "a token that is not a JWT": () => "Bearer garbage",
    "three invalid parts": () => "Bearer a.b.c",
    "three empty parts": () => "Bearer ..",
    "an unsigned token": () => `Bearer ${new UnsecuredJWT(validClaims()).encode()}`,
    "an HMAC with the public key": async () => `Bearer ${await hmac(await exportSPKI(keys.RS256.publicKey))}`,
    "an HMAC with the public JWK": async () => `Bearer ${await hmac(JSON.stringify(keys.RS256.jwk))}`,
    "a signature of another key with a known kid": async () => `Bearer ${await forged()}`,
    "a key in the jwk header": async () => `Bearer ${await forged({ jwk: (await makeSigningKey("ES256")).jwk })}`,
    "a key in the jku header": async () => `Bearer ${await forged({ kid: "x", jku: issuer.jwksUrl })}`,
    "an unknown kid": async () => `Bearer ${await token({}, "ES256", { kid: "unknown" })}`,
    "a kid of another algorithm": async () => `Bearer ${await token({}, "ES256", { kid: "RS256" })}`,
    "an unknown critical extension": async () =>
      `Bearer ${await token({}, "ES256", { crit: [criticalExtension], [criticalExtension]: 1 })}`,
    "changed claims": async () => `Bearer ${await tampered({ sub: "mallory" })}`,
    "a truncated signature": async () => `Bearer ${(await token()).slice(0, -4)}`,
    "a missing signature": async () => `Bearer ${(await token()).replace(/[^.]*$/, "")}`,
    "an algorithm that is not allowed": async () => `Bearer ${await token({}, "RS512")}`,
    "an exp in the past": async () => `Bearer ${await token({ exp: nowSeconds() - 1 })}`,
    "an exp of now": async () => `Bearer ${await token({ exp: nowSeconds() })}`,
    "a missing exp": async () => `Bearer ${await token({ exp: undefined })}`,
    "an nbf in the future": async () => `Bearer ${await token({ nbf: nowSeconds() + 60 })}`,
    "a missing subject": async () => `Bearer ${await token({ sub: undefined })}`,
    "an empty subject": async () => `Bearer ${await token({ sub: "" })}`,
    "a subject with NUL": async () => `Bearer ${await token({ sub: "ali\u0000ce" })}`,
    "a subject with an unpaired surrogate": async () => `Bearer ${await token({ sub: "alice\ud800" })}`,
    "a subject of 300 characters": async () => `Bearer ${await token({ sub: "s".repeat(300) })}`,
    "a numeric subject": async () => `Bearer ${await token({ sub: 7 })}`,
    "another issuer": async () => `Bearer ${await token({ iss: "https://elsewhere.test" })}`,
    "an issuer with a trailing slash": async () => `Bearer ${await token({ iss: `${issuer.url}/` })}`,
    "a missing issuer": async () => `Bearer ${await token({ iss: undefined })}`,
    "another audience": async () => `Bearer ${await token({ aud: "https://elsewhere.test" })}`,
    "a missing audience": async () => `Bearer ${await token({ aud: undefined })}`,
    "a list of other audiences": async () => `Bearer ${await token({ aud: ["https://a.test", "https://b.test"] })}`,
    "a token of more than 9 KiB": async () => `Bearer ${await token({ filling: "x".repeat(9 * 1024) })}`,
    "a token of the development key": async () => `Bearer ${await service.token("alice")}`
  }
  for (const [what, authorization] of Object.entries(rejected)) {
    it(`rejects ${what}`, async () => {
      const { headers, status, text } = await list(await authorization())
      assert.strictEqual(text, `{"error":"Unauthorized","message":"Unauthorized"}`)
      assert.strictEqual(status, 401)
      assert.strictEqual(headers.get("www-authenticate"), "Bearer")
      assert.isTrue(headers.has("x-request-id"))
    })
  }

  it("rejects an invalid token before it validates anything else of a request", async () => {
    for (const [path, operations] of Object.entries(service.document.paths)) {
      for (const [method, { security }] of Object.entries(operations)) {
        if (security.length === 0) continue
        const response = await service.call(method.toUpperCase(), `${path.replace(/\{\w+\}/g, "no-id")}?limit=none`, {
          headers: { authorization: "Bearer a.b.c", "content-type": "text/plain", "idempotency-key": "ä" },
          ...(method === "get" ? {} : { body: "{" })
        })
        assert.strictEqual(response.status, 401, `${method} ${path}`)
      }
    }
  })

  it("rejects a cached token after it has expired", async () => {
    const short = await token({ exp: nowSeconds() + 30 })
    assert.strictEqual(await statusOf(short), 200)
    vi.setSystemTime(Date.now() + 31_000)
    assert.strictEqual(await statusOf(short), 401)
  })

  it("accepts a rejected token once its nbf has passed", async () => {
    const early = await token({ nbf: nowSeconds() + 30 })
    assert.strictEqual(await statusOf(early), 401)
    vi.setSystemTime(Date.now() + 31_000)
    assert.strictEqual(await statusOf(early), 200)
  })

  it("does not log tokens", async () => {
    const sent = [await token(), await token({}, "RS512"), await token({ exp: 1 })]
    for (const each of sent) await statusOf(each)
    const log = service.logs.join("\n")
    for (const each of sent) {
      for (const part of each.split(".").slice(1)) assert.notInclude(log, part)
    }
  })
})
