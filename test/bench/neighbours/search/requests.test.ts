import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { assert, describe, it } from "vitest"
import { listOperations, type Operation, type Parameter } from "../../../../bench/neighbours/search/openApi.ts"
import { makePools } from "../../../../bench/neighbours/search/pools.ts"
import { makeCandidates, makePrepare, type PreparedRequest } from "../../../../bench/neighbours/search/requests.ts"
import { Api } from "../../../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../../../src/http/api/OpenApi.ts"

const document = makeOpenApiDocument(Api)
const operations = listOperations(document)
const pools = makePools({
  tenant: "tnt_a",
  webhook: "int_a",
  email: "int_b",
  asset: "ast_a",
  subscriptions: ["sub_a", "sub_b"],
  largeCreditNote: "crn_a"
})
const listCandidates = makeCandidates(document, pools, Buffer.from("image"))
const prepare = makePrepare(pools)

const ajv = new Ajv2020({ strict: false, coerceTypes: true, validateFormats: true })
formats.default(ajv)
ajv.addSchema({ $id: "api", ...document })

const validators = new Map<string, ValidateFunction>()
/** Compiled once: that takes longest. */
const makeValidator = (schema: object) => {
  const text = JSON.stringify(schema).replaceAll('"#/', '"api#/')
  const known = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, known)
  return known
}
const assertValid = (schema: object, value: unknown, what: string) => {
  const validate = makeValidator(schema)
  assert.isTrue(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`)
}

const assertParameter = ({ name, schema }: Parameter, value: string | undefined, what: string) => {
  assert.isDefined(value, `${what} lacks ${name}`)
  assertValid({ type: "object", properties: { value: schema } }, { value }, `${what} ${name}`)
}

const assertPath = ({ parameters, path }: Operation, request: PreparedRequest) => {
  const [sent = ""] = request.path.split("?")
  const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`)
  const values = pattern.exec(sent)?.groups ?? {}
  for (const parameter of parameters.filter((parameter) => parameter.in === "path")) {
    assertParameter(parameter, values[parameter.name], request.path)
  }
}

const assertQuery = ({ parameters }: Operation, request: PreparedRequest) => {
  for (const [name, value] of new URLSearchParams(request.path.split("?")[1])) {
    const parameter = parameters.find((known) => known.in === "query" && known.name === name)
    if (parameter === undefined) assert.fail(`${request.path} has an unknown parameter ${name}`)
    assertParameter(parameter, value, request.path)
  }
}

const assertRequest = (operation: Operation, request: PreparedRequest) => {
  assertPath(operation, request)
  assertQuery(operation, request)
  if (typeof request.body !== "string") return
  assertValid(operation.body?.schema ?? {}, JSON.parse(request.body), `${operation.name} ${request.body.slice(0, 200)}`)
}

describe("makeCandidates", () => {
  it.each(operations)("makes requests of $name that meet its schemas", (operation) => {
    const candidates = listCandidates(operation)
    assert.isNotEmpty(candidates)
    for (const candidate of candidates) {
      const request = prepare(candidate)
      assert.notInclude(request.path, "{")
      assertRequest(operation, request)
    }
  })

  const find = (name: string) => operations.find((operation) => operation.name === name) ?? assert.fail(name)
  const describePaths = (name: string) => listCandidates(find(name)).map(({ path }) => path)

  it("sorts and filters lists, whole and in the longest pages", () => {
    assert.includeMembers(describePaths("GET /clients"), ["/clients", "/clients?q=no&sort=-createdAt"])
    assert.includeMembers(describePaths("GET /projects"), ["/projects?q=no&sort=-createdAt&limit=200"])
    assert.includeMembers(describePaths("GET /reports/revenue"), ["/reports/revenue?from=2016-01-01&to=2025-12-31"])
  })

  it("makes the largest lists and texts that fit into a body", () => {
    const sizes = listCandidates(find("POST /billables")).map(({ body }) => body?.length ?? 0)
    assert.isAbove(Math.max(...sizes), 3_900_000)
    assert.isAtMost(Math.max(...sizes), 4 * 1024 * 1024)
  })

  it("deletes no resource that other operations need", () => {
    assert.notInclude(describePaths("DELETE /tenants/{tenantId}"), "/tenants/{{tenant}}")
    assert.include(describePaths("GET /tenants/{tenantId}"), "/tenants/{{tenant}}")
  })

  it("names an operation whose path it cannot fill in", () => {
    const name = "GET /unknown/{unknownId}"
    const parameter: Parameter = { name: "unknownId", in: "path", schema: { type: "string" } }
    const unknown: Operation = {
      name,
      method: "GET",
      path: "/unknown/{unknownId}",
      parameters: [parameter],
      body: undefined,
      hasCsv: false
    }
    assert.throws(() => listCandidates(unknown), name)
  })
})

describe("makePrepare", () => {
  it("uses the resources of a pool in turn, and numbers requests", () => {
    const [candidate] = listCandidates(operations.find(({ name }) => name === "POST /members") ?? assert.fail())
    assert.notStrictEqual(prepare(candidate ?? assert.fail()).body, prepare(candidate ?? assert.fail()).body)
    const get = { method: "GET", path: "/clients/{{client}}", headers: {}, body: undefined } as const
    assert.deepStrictEqual(
      [makePrepare(pools), makePrepare(pools)].map((prepared) => [prepared(get).path, prepared(get).path]),
      [
        ["/clients/clnt_client00000000", "/clients/clnt_client00000001"],
        ["/clients/clnt_client00000000", "/clients/clnt_client00000001"]
      ]
    )
  })
})
