import { createHash } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../../support/servers/service.ts"

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found)

describe("GET /docs", () => {
  let service: Service
  let html: string
  let policy: ReadonlyMap<string, ReadonlyArray<string>>
  beforeAll(async () => {
    service = await startService()
    const { headers, status, text } = await service.call("GET", "/docs")
    assert.strictEqual(status, 200)
    assert.match(headers.get("content-type") ?? "", /^text\/html/)
    html = text
    policy = new Map(
      (headers.get("content-security-policy") ?? "").split(";").map((directive) => {
        const [name = "", ...sources] = directive.trim().split(" ")
        return [name, sources]
      })
    )
  })
  afterAll(() => service.stop())

  it("references only scripts and styles that the service serves itself", async () => {
    const references = matches(html, /(?:src|href)="([^"]*)"/g)
    assert.isNotEmpty(references.filter((path) => path.endsWith(".js")))
    assert.isNotEmpty(references.filter((path) => path.endsWith(".css")))
    for (const path of references) {
      assert.match(path, /^\/(?!\/)/, "is a path of this service")
      const { headers, status, text } = await service.call("GET", path)
      assert.strictEqual(status, 200, path)
      assert.match(headers.get("content-type") ?? "", path.endsWith(".css") ? /^text\/css/ : /^text\/javascript/)
      assert.isAbove(text.length, 1000, path)
    }
  })

  it("references no URL outside the service, nor do its styles and scripts", async () => {
    assert.notMatch(html, /(https?:)?\/\/\w/)
    const styles = await Promise.all(
      matches(html, /href="([^"]*\.css)"/g).map(async (path) => (await service.call("GET", path)).text)
    )
    assert.notMatch(styles.join("\n"), /@import|url\(["']?(https?:)?\/\//)
    const scripts = matches(html, /<script>([^<]*)<\/script>/g).join("\n")
    assert.include(scripts, `url: "/openapi.json"`)
    assert.match(
      scripts,
      /validatorUrl: (null|"none")/,
      "Swagger UI would request a badge from a validator on the internet"
    )
  })

  it("sends a Content-Security-Policy that allows only its own files and hashed inline scripts", () => {
    assert.deepStrictEqual(policy.get("default-src"), ["'none'"])
    for (const [name, sources] of policy) {
      for (const source of sources) {
        assert.match(source, /^('none'|'self'|'unsafe-inline'|'sha256-[\w+/=]+'|data:)$/, name)
      }
    }
    assert.notInclude(policy.get("script-src") ?? [], "'unsafe-inline'")
    for (const script of matches(html, /<script>([^<]*)<\/script>/g)) {
      assert.include(policy.get("script-src") ?? [], `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    }
  })
})
