import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { developmentTokenPath } from "../../../src/http/server/pages/DevelopmentToken.ts"
import { cspHashOf } from "../../../src/http/server/pages/HtmlPage.ts"
import { assertFailure, notFoundText } from "../../support/assertions/failures.ts"
import { operationsOf } from "../../support/assertions/operations.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found)

/** Settings of a service that accepts tokens of an issuer only. */
const issuer = { AUTH_ISSUER: "https://issuer.test", AUTH_AUDIENCE: "contracting" }

const fromLocalPage = { "sec-fetch-site": "same-origin" }

describe("The documentation page", () => {
  let service: Service
  let html: string
  let policy: ReadonlyMap<string, ReadonlyArray<string>>
  beforeAll(async () => {
    service = await startService({})
    const { headers, status, text } = await service.call("GET", "/docs")
    assert.strictEqual(status, 200)
    html = text
    policy = new Map(
      (headers.get("content-security-policy") ?? "").split(";").map((directive) => {
        const [name = "", ...sources] = directive.trim().split(" ")
        return [name, sources]
      })
    )
  })
  afterAll(() => service.stop())

  it("references only scripts that the service serves itself", async () => {
    assert.notMatch(html, /(https?:)?\/\/\w/)
    const references = matches(html, /src="([^"]*)"/g)
    assert.isNotEmpty(references)
    for (const path of references) {
      const { headers, status, text } = await service.call("GET", path)
      assert.strictEqual(status, 200, path)
      assert.match(headers.get("content-type") ?? "", /^text\/javascript/)
      assert.isAbove(text.length, 100_000, path)
    }
  })

  it("sends a Content-Security-Policy that allows only its own files and hashed inline scripts", () => {
    assert.deepStrictEqual(policy.get("default-src"), ["'none'"])
    for (const [name, sources] of policy)
      for (const source of sources)
        assert.match(source, /^('none'|'self'|'unsafe-inline'|'sha256-[\w+/=]+'|data:|blob:)$/, name)
    assert.notInclude(policy.get("script-src") ?? [], "'unsafe-inline'")
    const scripts = matches(html, /<script>([^<]*)<\/script>/g)
    assert.lengthOf(scripts, 1)
    for (const script of scripts) assert.include(policy.get("script-src") ?? [], cspHashOf(script))
  })

  it("has a sample in TypeScript for every operation", async () => {
    const { body } = await service.call("GET", "/docs/openapi.json")
    for (const { method, path } of operationsOf(service.document)) {
      const { "x-codeSamples": samples, operationId } = body.paths[path][method.toLowerCase()]
      assert.deepStrictEqual(
        samples.map(({ lang }: { lang: string }) => lang),
        ["TypeScript"]
      )
      assert.include(samples[0].source, `api.${operationId}(`)
    }
    const [sample] = body.paths["/api/v1/clients/{clientId}"].patch["x-codeSamples"]
    assert.match(sample.source, /const result = await api\.clients\.patch\(clientId, \{/)
    const [list] = body.paths["/api/v1/clients"].get["x-codeSamples"]
    assert.include(list.source, "for await (const item of api.clients.list()")
    const [removal] = body.paths["/api/v1/clients/{clientId}"].delete["x-codeSamples"]
    assert.match(removal.source, /^await api\.clients\.remove\(clientId\)$/m)
  })

  it("fills no optional parameter into the requests that it tries", async () => {
    const { body } = await service.call("GET", "/docs/openapi.json")
    for (const { method, path } of operationsOf(service.document))
      for (const { name, required, schema } of body.paths[path][method.toLowerCase()].parameters)
        assert.strictEqual("examples" in schema && !required, false, `${method} ${path} ${name}`)
    const { parameters } = body.paths["/api/v1/invoices"].get
    const tenantId = parameters.find(({ name }: { name: string }) => name === "tenant-id")
    assert.lengthOf(tenantId.schema.examples, 1)
  })

  describe("with a development key", () => {
    it("gets a token that the API accepts", async () => {
      const { headers, status, text } = await service.call("GET", developmentTokenPath, { headers: fromLocalPage })
      assert.deepStrictEqual([status, headers.get("cache-control")], [200, "no-store"])
      assert.strictEqual((await service.api("GET", "/tenants", { as: text })).status, 200)
    })

    it.each<[sender: string, headers: Readonly<Record<string, string>>]>([
      ["a page of another site", { "sec-fetch-site": "cross-site" }],
      ["a page of another port", { "sec-fetch-site": "same-site" }],
      ["a page under another host name", { ...fromLocalPage, host: "attacker.test" }],
      ["a program", {}]
    ])("gives no token to %s", async (_, headers) => {
      // Unlike fetch, this can send another host.
      assertFailure(await sendRaw(service.url, { path: developmentTokenPath, headers }), 404, notFoundText)
    })
  })

  it.each<[name: string, environment: Readonly<Record<string, string>>]>([
    ["with another issuer", issuer],
    ["in production", { ...issuer, NODE_ENV: "production", SECRETS_KEY: Buffer.alloc(32).toString("base64") }]
  ])("offers no development token %s", async (_, environment) => {
    const other = await startService({ ...environment, SHUTDOWN_DELAY_SECONDS: "0" })
    try {
      const { status, text } = await other.call("GET", "/docs")
      assert.strictEqual(status, 200)
      assert.notMatch(text, /<button|development|alice/)
      const token = await other.call("GET", developmentTokenPath, { headers: fromLocalPage })
      assert.strictEqual(token.status, 404)
    } finally {
      await other.stop()
    }
  })
})

describe("The start page", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
  })
  afterAll(() => service.stop())

  it("links to the pages that the service serves", async () => {
    const { headers, status, text } = await service.call("GET", "/")
    assert.strictEqual(status, 200)
    assert.match(headers.get("content-type") ?? "", /^text\/html/)
    const links = matches(text, /href="(\/[^"]*)"/g)
    assert.deepStrictEqual(links, ["/console", "/docs", "/openapi.json", "/readyz"])
    for (const link of links) assert.strictEqual((await service.call("GET", link)).status, 200, link)
  })

  it("allows no scripts and only its own style", async () => {
    const { headers, text } = await service.call("GET", "/")
    assert.notInclude(text, "<script")
    const [style = ""] = matches(text, /<style>([^<]*)<\/style>/g)
    const policy = headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'none'")
    assert.include(policy, `style-src ${cspHashOf(style)}`)
    assert.notMatch(policy, /script-src|unsafe-inline/)
  })
})
