import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { decodeJwt } from "jose"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  developmentIssuer,
  developmentKey,
  signDevelopmentToken
} from "../../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"
import { type Service, startService } from "../../../support/servers/service.ts"

const keyFile = "development-key.json"

describe("developmentKey", () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "contracting-key-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const inFolder = async <A, E>(name: string, work: Effect.Effect<A, E, Settings>) => {
    const settings = await Effect.runPromise(readSettings({ DATA_DIR: join(folder, name) }))
    return Effect.runPromise(Effect.provideService(work, Settings, settings))
  }

  it("returns one complete key to all processes that start at the same time", async () => {
    for (let n = 0; n < 20; n++) {
      const name = `folder-${n}`
      const keys = await Promise.all(Array.from({ length: 20 }, () => inFolder(name, developmentKey)))
      assert.isString(keys[0]?.d)
      for (const key of keys) assert.deepStrictEqual(key, keys[0])
      assert.deepStrictEqual(readdirSync(join(folder, name)), [keyFile], "no temporary file remains")
    }
  })

  it("creates the key once in a file that only its owner can read", async () => {
    const first = await inFolder("kept", developmentKey)
    assert.deepStrictEqual(await inFolder("kept", developmentKey), first)
    assert.strictEqual(statSync(join(folder, "kept", keyFile)).mode & 0o777, 0o600)
    assert.notDeepEqual(await inFolder("other", developmentKey), first)
  })

  it("signs development tokens with the given lifetime", async () => {
    const claims = decodeJwt(await inFolder("kept", signDevelopmentToken("alice", 90)))
    assert.deepInclude(claims, { iss: developmentIssuer.issuer, aud: developmentIssuer.audience, sub: "alice" })
    assert.strictEqual((claims.exp ?? 0) - (claims.iat ?? 0), 90)
  })
})

describe("A service without an issuer", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
  })
  afterAll(() => service.stop())

  it("accepts tokens of its own data directory and rejects those of another", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "contracting-key-"))
    const foreign = await Effect.runPromise(
      signDevelopmentToken("alice", 90).pipe(
        Effect.provideService(Settings, { ...service.settings, DATA_DIR: elsewhere }),
        Effect.ensuring(Effect.sync(() => rmSync(elsewhere, { recursive: true })))
      )
    )
    assert.strictEqual((await service.api("GET", "/tenants", { as: "alice" })).status, 200)
    assert.strictEqual((await service.api("GET", "/tenants", { as: foreign })).status, 401)
  })

  it("does not log its private key", async () => {
    const { d } = await Effect.runPromise(Effect.provideService(developmentKey, Settings, service.settings))
    assert.isString(d)
    assert.notInclude(service.logs.join("\n"), String(d))
  })
})

describe("readSettings in production", () => {
  const complete = {
    NODE_ENV: "production",
    AUTH_ISSUER: "https://issuer.test",
    AUTH_AUDIENCE: "https://contracting.test",
    SECRETS_KEY: Buffer.alloc(32, 7).toString("base64")
  }
  const errorsOf = async (environment: NodeJS.ProcessEnv) => (await settingsErrors(environment)).message

  it("accepts an issuer or its JWKS URL with an audience and a secrets key", async () => {
    assert.strictEqual((await Effect.runPromise(readSettings(complete))).NODE_ENV, "production")
    const { AUTH_ISSUER, ...rest } = complete
    const keys = { ...rest, AUTH_JWKS_URL: `${AUTH_ISSUER}/jwks` }
    assert.strictEqual((await Effect.runPromise(readSettings(keys))).NODE_ENV, "production")
  })

  it("reports all missing settings at once", async () => {
    const message = await errorsOf({ NODE_ENV: "production" })
    for (const name of ["AUTH_ISSUER or AUTH_JWKS_URL", "AUTH_AUDIENCE", "SECRETS_KEY"]) assert.include(message, name)
    assert.lengthOf(message.match(/^ {2}- /gm) ?? [], 3)
  })

  for (const missing of ["AUTH_ISSUER", "AUTH_AUDIENCE", "SECRETS_KEY"] as const) {
    it(`rejects an empty ${missing}`, async () => {
      const message = await errorsOf({ ...complete, [missing]: "" })
      assert.include(message, missing)
      assert.lengthOf(message.match(/^ {2}- /gm) ?? [], 1)
    })
  }

  it("reports missing and invalid settings together", async () => {
    const message = await errorsOf({ NODE_ENV: "production", PORT: "many", AUTH_ALGORITHMS: "HS256" })
    for (const name of ["PORT", "AUTH_ALGORITHMS", "AUTH_ISSUER", "AUTH_AUDIENCE", "SECRETS_KEY"]) {
      assert.include(message, name)
    }
  })

  it("does not repeat an invalid secret in the error", async () => {
    const message = await errorsOf({ ...complete, SECRETS_KEY: "too-short-to-be-a-key" })
    assert.include(message, "SECRETS_KEY")
    assert.notInclude(message, "too-short-to-be-a-key")
  })

  it("rejects an issuer that is not a URL unless AUTH_JWKS_URL is set", async () => {
    assert.include(await errorsOf({ ...complete, AUTH_ISSUER: "issuer.test" }), "AUTH_ISSUER")
    const withJwksUrl = { ...complete, AUTH_ISSUER: "issuer.test", AUTH_JWKS_URL: "https://issuer.test/jwks" }
    assert.strictEqual((await Effect.runPromise(readSettings(withJwksUrl))).AUTH_ISSUER, "issuer.test")
  })

  for (const name of ["AUTH_ISSUER", "AUTH_JWKS_URL"] as const) {
    it(`rejects an http URL in ${name} unless it is on the loopback interface`, async () => {
      for (const protocol of ["http", "HTTP", "Http"]) {
        const message = await errorsOf({ ...complete, [name]: `${protocol}://issuer.test/keys` })
        assert.include(message, `${name} must start with https://`)
      }
      for (const host of ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"]) {
        const address = `http://${host}/keys`
        const read = await Effect.runPromise(readSettings({ ...complete, [name]: address }))
        assert.strictEqual(read[name], address)
      }
      const development = { ...complete, NODE_ENV: "development", [name]: "http://issuer.test/keys" }
      assert.strictEqual((await Effect.runPromise(readSettings(development))).NODE_ENV, "development")
    })
  }

  for (const algorithm of ["HS256", "none", "RS1"]) {
    it(`rejects the algorithm ${algorithm}`, async () => {
      assert.include(await errorsOf({ ...complete, AUTH_ALGORITHMS: `ES256,${algorithm}` }), "AUTH_ALGORITHMS")
    })
  }
})
