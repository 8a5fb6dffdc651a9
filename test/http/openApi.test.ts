import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { HttpApi } from "@effect/platform"
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core"
import { oas } from "@stoplight/spectral-rulesets"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Api } from "../../src/http/api/Api.ts"
import type { OpenApiDocument } from "../../src/http/api/OpenApi.ts"
import { resolveResponse } from "../support/assertions/conformance.ts"
import { assertFailure, assertValidationError, notFoundText, unauthorizedText } from "../support/assertions/failures.ts"
import {
  type InterfaceOperation,
  implementedOperations,
  pendingOperations
} from "../support/assertions/givenInterface.ts"
import { addressOf, type Operation, operationsOf } from "../support/assertions/operations.ts"
import { type Service, startService } from "../support/servers/service.ts"

interface Header {
  readonly schema: { readonly type: string }
}
interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}
interface Described {
  readonly operationId: string
  readonly summary: string
  readonly security: ReadonlyArray<object>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly required: boolean }>
  readonly responses: Readonly<Record<string, Response>>
}

/** The problems that the rules of Spectral for OpenAPI find, warnings included. */
const lintWithSpectral = async (text: string) => {
  const spectral = new Spectral()
  // Redocly checks the same examples in a tenth of the time.
  const rules = { "oas3-valid-media-example": "off" } as const
  spectral.setRuleset({ extends: [oas as RulesetDefinition], rules }) // the type of its formats is narrower
  const problems = await spectral.run(text)
  return problems.map(({ code, message, path }) => `${code}: ${message} ${path.join("/")}`)
}

/** The problems that the recommended rules of Redocly find, warnings included. */
const lintWithRedocly = async (file: string) => {
  const program = join(dirname(createRequire(import.meta.url).resolve("@redocly/cli/package.json")), "bin/cli.js")
  const config = join(import.meta.dirname, "../support/assertions/redocly.yaml")
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, "lint", file, "--config", config, "--format", "json"],
    { env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }
  ).catch((failed: { readonly stdout: string }) => failed)
  const { problems } = JSON.parse(stdout) as {
    readonly problems: ReadonlyArray<{
      readonly ruleId: string
      readonly message: string
      readonly location: ReadonlyArray<{ readonly pointer?: string }>
    }>
  }
  return problems.map(({ location, message, ruleId }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
}

describe("The OpenAPI document", () => {
  let service: Service
  let operations: ReadonlyArray<Operation & { readonly described: Described }>
  beforeAll(async () => {
    service = await startService({})
    operations = operationsOf(service.document).map((operation) => ({
      ...operation,
      described: resolved(service.document.paths[operation.path]?.[operation.method.toLowerCase()])
    }))
  })
  afterAll(() => service.stop())

  /** An operation with its shared responses in place. */
  const resolved = (operation: OpenApiDocument["paths"][string][string] | undefined) =>
    ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation?.responses ?? {}).map(([status, listed]) => [
          status,
          resolveResponse(service.document, listed)
        ])
      )
      // The type of the document declares only the fields that its generation uses.
    }) as unknown as Described

  const find = ({ method, path }: Pick<InterfaceOperation, "method" | "path">) =>
    operations.find((operation) => operation.method === method && operation.path === path)
  const address = (operation: Operation) => addressOf(operation, (name) => `unknown-${name}`)

  it("is served with its version and without names of the libraries in use", async () => {
    const { body, headers, status, text } = await service.call("GET", "/openapi.json")
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("content-type"), "application/json")
    assert.deepStrictEqual(body, JSON.parse(JSON.stringify(service.document)))
    assert.strictEqual(body.info.version, "0.1.0")
    assert.match(body.openapi, /^3\.1\.\d+$/)
    for (const leftover of ["HttpApiDecodeError", '"Issue"', "_tag", "ParseError", "/schemas/unknown", "effect"]) {
      assert.notInclude(text.replaceAll("#/components/schemas/", ""), leftover)
    }
  })

  it("passes the recommended rules of Redocly without a warning", async () => {
    const file = join(service.dataDir, "openapi.json")
    writeFileSync(file, (await service.call("GET", "/openapi.json")).text)
    assert.deepStrictEqual(await lintWithRedocly(file), [])
  }, 120_000)

  it("gives each operation a unique operationId and summary", () => {
    for (const key of ["operationId", "summary"] as const) {
      const values = operations.map(({ described }) => described[key])
      assert.strictEqual(new Set(values).size, values.length, values.join(", "))
      for (const value of values) assert.match(value, /\S/)
    }
  })

  it("lists every status of an operation with its description, schema and headers", () => {
    for (const { described, name } of operations) {
      const codes = Object.keys(described.responses)
      assert.lengthOf(
        codes.filter((code) => code.startsWith("2")),
        1,
        name
      )
      assert.includeMembers(codes, ["404", "429", "500", "503"], name)
      assert.strictEqual(codes.includes("401"), described.security.length > 0, name)
      for (const [code, { content, description, headers }] of Object.entries(described.responses)) {
        const what = `${name} ${code}`
        assert.isObject(headers["x-request-id"]?.schema, what)
        assert.strictEqual("Retry-After" in headers, code === "429" || code === "503", what)
        assert.strictEqual(content === undefined, code === "204" || code === "304", what)
        for (const { schema } of Object.values(content ?? {})) assert.isNotEmpty(schema, what)
        if (Number(code) >= 400) assert.include(description, " ", `${what} has a sentence as its description`)
      }
    }
  })

  it("describes each error as an object of error, message and details", () => {
    const codes = new Map(
      operations.flatMap(({ described }) => Object.entries(described.responses).filter(([code]) => Number(code) >= 400))
    )
    for (const [code, { content }] of codes) {
      const reference = Object(content?.["application/json"]?.schema)
      const schema = service.document.components.schemas[String(reference.$ref).split("/").at(-1) ?? ""]
      assert.deepInclude(schema, { type: "object", additionalProperties: false, required: ["error", "message"] }, code)
      const properties = Object.keys(schema !== undefined && "properties" in schema ? Object(schema.properties) : {})
      assert.sameMembers(properties, code === "400" ? ["error", "message", "details"] : ["error", "message"], code)
    }
  })

  it("has exactly the operations that the service routes", async () => {
    const routes: Array<string> = []
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => {
        routes.push(`${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")}`)
      }
    })
    assert.sameMembers(
      operations.map(({ name }) => name),
      routes
    )
    for (const operation of operations) {
      if (!operation.needsToken) continue
      assertFailure(await service.call(operation.method, address(operation)), 401, unauthorizedText, operation.name)
    }
    for (const path of new Set(operations.map(({ path }) => path))) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        if (operations.some((operation) => operation.path === path && operation.method === method)) continue
        assertFailure(await service.call(method, path.replace(/\{\w+\}/g, "unknown")), 404, notFoundText, method + path)
      }
    }
  })

  it("requires a bearer token and the tenant-id header exactly where the service does", async () => {
    const { securitySchemes } = service.document.components
    assert.containSubset(securitySchemes, { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } })
    for (const { described, ...operation } of operations) {
      // A browser that the OAuth provider redirects has no token.
      const anonymous = operation.path.endsWith("/oauth/callback") ? [{}] : []
      if (operation.needsToken)
        assert.deepStrictEqual(described.security, [{ bearer: [] }, ...anonymous], operation.name)
      const header = described.parameters.find(({ name }) => name === "tenant-id")
      const response = await service.call(operation.method, address(operation), { as: "someone" })
      if (header === undefined) assert.notInclude(response.text, "tenant-id", operation.name)
      else {
        assert.deepInclude(header, { in: "header", required: true })
        assertValidationError(response, [
          "tenant-id",
          "required",
          "is required: send the identifier of the tenant in this header"
        ])
      }
    }
  })

  it("lists exactly the headers that a success carries", async () => {
    const tenant = await service.newTenant()
    const as = { as: "owner", tenant }
    const created = await service.api("POST", "/clients", { ...as, body: { name: "Northwind" } })
    const path = `/clients/${created.body.data.id}`
    const common = new Set(["cache-control", "connection", "content-length", "content-type", "date", "keep-alive"])
    for (const [response, method, template] of [
      [created, "POST", "/clients"],
      [await service.api("GET", "/clients", as), "GET", "/clients"],
      [await service.api("GET", path, as), "GET", "/clients/{clientId}"],
      [await service.api("PATCH", path, { ...as, body: { name: "N" } }), "PATCH", "/clients/{clientId}"],
      [await service.api("DELETE", path, as), "DELETE", "/clients/{clientId}"],
      [await service.api("GET", "/tenants?limit=1", { as: "stranger" }), "GET", "/tenants"]
    ] as const) {
      const documented =
        find({ method, path: `/api/v1${template}` })?.described.responses[response.status]?.headers ?? {}
      const listed = Object.keys(documented).map((name) => name.toLowerCase())
      const sent = [...response.headers.keys()].filter((name) => !common.has(name) && name !== "x-content-type-options")
      // The last page has no Link header, and a first response is not replayed.
      const optional = new Set(["link", "idempotent-replayed"])
      assert.sameMembers(
        sent,
        listed.filter((name) => !optional.has(name)),
        `${method} ${template}`
      )
    }
  })

  it("lists 304 for every GET with an ETag", () => {
    for (const { described, method, name } of operations) {
      const hasTag = "ETag" in (described.responses["200"]?.headers ?? {})
      assert.strictEqual("304" in described.responses, method === "GET" && hasTag, name)
    }
  })

  it.each(implementedOperations)(
    "has $method $path with the statuses of the given interface",
    ({ failures, method, path, success, tenantHeader }) => {
      const operation = find({ method, path })?.described ?? assert.fail("the operation is missing")
      const codes = Object.keys(operation.responses).map(Number)
      assert.includeMembers(codes, [success, ...failures])
      assert.strictEqual(codes.includes(403), failures.includes(403), "403 only where the interface lists it")
      assert.strictEqual(
        operation.parameters.some(({ name }) => name === "tenant-id"),
        tenantHeader
      )
    }
  )

  it.each(pendingOperations)("does not have the pending operation $method $path", (listed) => {
    assert.isUndefined(
      find(listed),
      "is implemented: move its line to `implementedOperations` in test/support/assertions/givenInterface.ts"
    )
  })

  it("is compared with 13 operations of the given interface", () => {
    assert.lengthOf([...implementedOperations, ...pendingOperations], 13)
  })

  // The last test: it blocks this process for longer than the server keeps an idle connection open.
  it("passes the OpenAPI rules of Spectral without a warning", async () => {
    assert.deepStrictEqual(await lintWithSpectral((await service.call("GET", "/openapi.json")).text), [])
  }, 180_000)
})
