import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../../support/servers/service.ts"

const policy = "default-src 'self'; frame-src blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

describe("The console", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
  })
  afterAll(() => service.stop())

  const readPage = () => service.call("GET", "/console")
  const assetsOf = (html: string) => [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path)

  it("is one page for every address below /console, with a policy that has no exceptions", async () => {
    const { headers, text } = await readPage()
    assert.strictEqual(headers.get("content-security-policy"), policy)
    assert.strictEqual(headers.get("cache-control"), "no-cache")
    assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
    assert.notMatch(text, /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/, "nothing inline")
    assert.strictEqual((await service.call("GET", "/console/tnt_1/invoices/inv_2?preview=pdf")).text, text)
  })

  it("refers only to its own assets, which browsers keep for ever", async () => {
    const assets = assetsOf((await readPage()).text)
    assert.isAtLeast(assets.length, 3)
    for (const path of assets) {
      assert.match(path, /^\/console\/assets\/[\w.-]+$/)
      const { headers, status } = await fetch(service.url + path)
      assert.strictEqual(status, 200, path)
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      if (path.endsWith(".svg")) continue
      assert.strictEqual(headers.get("cache-control"), "public, max-age=31536000, immutable")
      assert.strictEqual(headers.get("content-encoding"), "gzip")
    }
  })

  it("answers 404 for an asset that does not exist, also for a path out of the folder", async () => {
    for (const path of ["main.js", "..%2fmanifest.json"])
      assert.strictEqual((await service.call("GET", `/console/assets/${path}`)).status, 404)
  })

  const signIn = (credential: string, path = "/console/sign-in") =>
    service.call("POST", path, { headers: { authorization: `Bearer ${credential}` } })

  it("exchanges a one-time code for a development token of the same subject, once", async () => {
    const code = await signIn(await service.token("alice"), "/console/sign-in-code")
    assert.strictEqual(code.status, 200)
    const { headers, status, text } = await signIn(code.text)
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("cache-control"), "no-store")
    assert.strictEqual((await service.api("GET", "/tenants", { as: text })).status, 200)
    assert.strictEqual((await signIn(code.text)).status, 401)
  })

  it("issues no code without a valid token, and redeems no other text", async () => {
    assert.strictEqual((await signIn("nobody", "/console/sign-in-code")).status, 401)
    assert.strictEqual((await signIn("")).status, 401)
  })
})

describe("The console of a service", () => {
  it("is not served with CONSOLE=off", async () => {
    const service = await startService({ CONSOLE: "off" })
    try {
      for (const path of ["/console", "/console/clients", "/console/assets/icon.svg"])
        assert.strictEqual((await service.call("GET", path)).status, 404)
      assert.strictEqual((await service.call("POST", "/console/sign-in")).status, 404)
      assert.notInclude((await service.call("GET", "/")).text, "/console")
    } finally {
      await service.stop()
    }
  })

  it("with an identity provider calls only this provider besides, and has no sign-in by link", async () => {
    const service = await startService({
      AUTH_ISSUER: "https://id.example.com/realm",
      AUTH_JWKS_URL: "https://id.example.com/keys",
      CONSOLE_OIDC_CLIENT_ID: "console"
    })
    try {
      const { headers } = await service.call("GET", "/console")
      assert.strictEqual(
        headers.get("content-security-policy"),
        policy.replace("'self';", "'self'; connect-src 'self' https://id.example.com;")
      )
      assert.strictEqual((await service.call("POST", "/console/sign-in-code")).status, 404)
    } finally {
      await service.stop()
    }
  })
})
