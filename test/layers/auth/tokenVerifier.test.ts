import { exportSPKI, SignJWT, UnsecuredJWT } from "jose"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import {
  type Claims,
  criticalExtension,
  makeSigningKey,
  nowSeconds,
  type SigningKey,
  signToken
} from "../../support/fixtures/signingKeys.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { type Issuer, startIssuer } from "../../support/servers/tokenIssuer.ts"

const audience = "https://contracting.test"
const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "RS512"] as const
type Algorithm = (typeof algorithms)[number]

describe("bearer tokens", () => {
  let issuer: Issuer
  let service: Service
  let keys: Readonly<Record<Algorithm, SigningKey>>
  beforeAll(async () => {
    const made = await Promise.all(algorithms.map(async (alg) => [alg, await makeSigningKey(alg)] as const))
    keys = Object.fromEntries(made) as typeof keys // one for each of the names it was made from
    issuer = await startIssuer(...Object.values(keys).map(({ jwk }) => jwk))
    service = await startService({ AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: audience })
  })
  afterEach(() => void vi.useRealTimers())
  afterAll(async () => {
    await service.stop()
    await issuer.stop()
  })

  const good = () => ({ iss: issuer.url, aud: audience, sub: "alice", exp: nowSeconds() + 600 })
  const token = (claims: Claims = {}, alg: Algorithm = "ES256", header = {}) =>
    signToken(keys[alg], { ...good(), ...claims }, header)
  const list = (authorization?: string) =>
    service.api("GET", "/tenants", authorization === undefined ? {} : { headers: { authorization } })
  const statusOf = async (text: string) => (await list(`Bearer ${text}`)).status

  const accepted: Readonly<Record<string, () => Promise<string>>> = {
    RS256: async () => `Bearer ${await token({}, "RS256")}`,
    PS256: async () => `Bearer ${await token({}, "PS256")}`,
    ES256: async () => `Bearer ${await token({}, "ES256")}`,
    EdDSA: async () => `Bearer ${await token({}, "EdDSA")}`,
    "a scheme in lower case": async () => `bearer ${await token()}`,
    "a scheme in upper case": async () => `BEARER ${await token()}`,
    "us among several audiences": async () => `Bearer ${await token({ aud: ["https://a.test", audience] })}`,
    "no type": async () => `Bearer ${await token({}, "ES256", { typ: undefined })}`,
    "no name for its key": async () => `Bearer ${await token({}, "ES256", { kid: undefined })}`,
    "a start that has passed": async () => `Bearer ${await token({ nbf: nowSeconds() - 5 })}`,
    "a subject of 255 characters": async () => `Bearer ${await token({ sub: "s".repeat(255) })}`
  }
  for (const [what, authorization] of Object.entries(accepted)) {
    it(`are accepted with ${what}`, async () => {
      assert.strictEqual((await list(await authorization())).status, 200)
    })
  }

  const hmac = async (secret: string) =>
    new SignJWT(good())
      .setProtectedHeader({ alg: "HS256", kid: "RS256", typ: "at+jwt" })
      .sign(new TextEncoder().encode(secret))
  const forged = async (header: object = {}) => signToken({ ...(await makeSigningKey("ES256")) }, good(), header)
  const tampered = async (claims: Claims) => {
    const [header, , signature] = (await token()).split(".")
    return [header, Buffer.from(JSON.stringify({ ...good(), ...claims })).toString("base64url"), signature].join(".")
  }

  const refused: Readonly<Record<string, () => string | undefined | Promise<string>>> = {
    "no header": () => undefined,
    "an empty header": () => "",
    "nothing after the scheme": () => "Bearer",
    "another scheme": () => `Basic ${Buffer.from("alice:secret").toString("base64")}`,
    "no scheme": async () => token(),
    "two tokens": async () => `Bearer ${await token()} ${await token()}`,
    "a comma list": async () => `Bearer ${await token()}, Bearer ${await token()}`,
    garbage: () => "Bearer garbage",
    "three parts of garbage": () => "Bearer a.b.c",
    "empty parts": () => "Bearer ..",
    "alg none": () => `Bearer ${new UnsecuredJWT(good()).encode()}`,
    "an HMAC with the public key": async () => `Bearer ${await hmac(await exportSPKI(keys.RS256.publicKey))}`,
    "an HMAC with the public JWK": async () => `Bearer ${await hmac(JSON.stringify(keys.RS256.jwk))}`,
    "someone else's key under a known name": async () => `Bearer ${await forged()}`,
    "a key brought along": async () => `Bearer ${await forged({ jwk: (await makeSigningKey("ES256")).jwk })}`,
    "a key to be fetched elsewhere": async () => `Bearer ${await forged({ kid: "x", jku: issuer.jwksUrl })}`,
    "a key of unknown name": async () => `Bearer ${await token({}, "ES256", { kid: "unknown" })}`,
    "a key of another algorithm": async () => `Bearer ${await token({}, "ES256", { kid: "RS256" })}`,
    "an extension nobody knows": async () =>
      `Bearer ${await token({}, "ES256", { crit: [criticalExtension], [criticalExtension]: 1 })}`,
    "another's claims": async () => `Bearer ${await tampered({ sub: "mallory" })}`,
    "a signature cut short": async () => `Bearer ${(await token()).slice(0, -4)}`,
    "no signature": async () => `Bearer ${(await token()).replace(/[^.]*$/, "")}`,
    "an algorithm not on the list": async () => `Bearer ${await token({}, "RS512")}`,
    "an end that has passed": async () => `Bearer ${await token({ exp: nowSeconds() - 1 })}`,
    "an end that is now": async () => `Bearer ${await token({ exp: nowSeconds() })}`,
    "no end": async () => `Bearer ${await token({ exp: undefined })}`,
    "a start to come": async () => `Bearer ${await token({ nbf: nowSeconds() + 60 })}`,
    "no subject": async () => `Bearer ${await token({ sub: undefined })}`,
    "an empty subject": async () => `Bearer ${await token({ sub: "" })}`,
    "a subject with NUL": async () => `Bearer ${await token({ sub: "ali\u0000ce" })}`,
    "a subject with half a character": async () => `Bearer ${await token({ sub: "alice\ud800" })}`,
    "a subject of 300 characters": async () => `Bearer ${await token({ sub: "s".repeat(300) })}`,
    "a subject that is no text": async () => `Bearer ${await token({ sub: 7 })}`,
    "another issuer": async () => `Bearer ${await token({ iss: "https://elsewhere.test" })}`,
    "almost the issuer": async () => `Bearer ${await token({ iss: `${issuer.url}/` })}`,
    "no issuer": async () => `Bearer ${await token({ iss: undefined })}`,
    "another audience": async () => `Bearer ${await token({ aud: "https://elsewhere.test" })}`,
    "no audience": async () => `Bearer ${await token({ aud: undefined })}`,
    "a list of other audiences": async () => `Bearer ${await token({ aud: ["https://a.test", "https://b.test"] })}`,
    "9 KiB": async () => `Bearer ${await token({ filling: "x".repeat(9 * 1024) })}`,
    "the development key": async () => `Bearer ${await service.token("alice")}`
  }
  for (const [what, authorization] of Object.entries(refused)) {
    it(`are refused with ${what}`, async () => {
      const { headers, status, text } = await list(await authorization())
      assert.strictEqual(text, `{"error":"Unauthorized","message":"Unauthorized"}`)
      assert.strictEqual(status, 401)
      assert.strictEqual(headers.get("www-authenticate"), "Bearer")
      assert.isTrue(headers.has("x-request-id"))
    })
  }

  it("are looked at before anything else of a request", async () => {
    for (const [path, operations] of Object.entries(service.document.paths)) {
      for (const [method, { security }] of Object.entries(operations)) {
        if (security.length === 0) continue
        const answer = await service.call(method.toUpperCase(), `${path.replace(/\{\w+\}/g, "no-id")}?limit=none`, {
          headers: { authorization: "Bearer a.b.c", "content-type": "text/plain", "idempotency-key": "ä" },
          ...(method === "get" ? {} : { body: "{" })
        })
        assert.strictEqual(answer.status, 401, `${method} ${path}`)
      }
    }
  })

  it("that were good once are refused when they have expired", async () => {
    const short = await token({ exp: nowSeconds() + 30 })
    assert.strictEqual(await statusOf(short), 200)
    vi.setSystemTime(Date.now() + 31_000)
    assert.strictEqual(await statusOf(short), 401)
  })

  it("that were refused once are looked at again", async () => {
    const early = await token({ nbf: nowSeconds() + 30 })
    assert.strictEqual(await statusOf(early), 401)
    vi.setSystemTime(Date.now() + 31_000)
    assert.strictEqual(await statusOf(early), 200)
  })

  it("never reach the log", async () => {
    const sent = [await token(), await token({}, "RS512"), await token({ exp: 1 })]
    for (const each of sent) await statusOf(each)
    const log = service.logs.join("\n")
    for (const each of sent) {
      for (const part of each.split(".").slice(1)) assert.notInclude(log, part)
    }
  })
})
