import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { assert } from "vitest"
import type { OpenApiDocument } from "../../../src/http/api/OpenApi.ts"

interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

type Listed = OpenApiDocument["paths"][string][string]["responses"][string]

/** The response of an operation. Those that many operations share are references to the components. */
export const resolveResponse = ({ components }: OpenApiDocument, listed: Listed | undefined) =>
  listed !== undefined && "$ref" in listed ? components.responses[listed.$ref.split("/").at(-1) ?? ""] : listed

const matcher = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`)

/** Makes a check that a response has a status and a body that the OpenAPI document describes. */
export const makeConformanceCheck = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: "api", ...document })
  const compiled = new Map<string, ValidateFunction>()
  const templates = Object.keys(document.paths).map((template) => ({ template, pattern: matcher(template) }))

  const validatorOf = (response: ReadonlyArray<string>) => {
    const pointer = [...response, "content", "application/json", "schema"]
    const $ref = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`
    const known = compiled.get($ref) ?? ajv.compile({ $ref })
    compiled.set($ref, known)
    return known
  }

  return ({ contentType, method, path, status, text }: Exchange) => {
    const found = templates.find(({ pattern }) => pattern.test(path.split("?", 1)[0] ?? ""))
    const operation = found && document.paths[found.template]?.[method.toLowerCase()]
    if (found === undefined || operation === undefined) {
      assert.deepStrictEqual([status, text], [404, `{"error":"NotFound","message":"Not Found"}`], `${method} ${path}`)
      return
    }
    const what = `${method} ${path} answered ${status} ${text.slice(0, 300)}`
    if (status === 304) return assert.strictEqual(text, "", what)
    const listed = operation.responses[String(status)]
    assert.isDefined(listed, `${what}, which the document does not name`)
    const shared = listed !== undefined && "$ref" in listed ? listed.$ref.split("/").at(-1) : undefined
    const pointer =
      shared === undefined
        ? ["paths", found.template, method.toLowerCase(), "responses", String(status)]
        : ["components", "responses", shared]
    const response = resolveResponse(document, listed)
    if (response?.content === undefined) return assert.strictEqual(text, "", what)
    const isFile = !("application/json" in Object(response?.content))
    if (isFile) {
      const [type = ""] = contentType?.split(";", 1) ?? []
      const [kind] = type.split("/")
      const types = Object.keys(Object(response?.content))
      return assert.isTrue(types.includes(type) || types.includes(`${kind}/*`), what)
    }
    assert.strictEqual(contentType, "application/json", what)
    const validate = validatorOf(pointer)
    assert.isTrue(validate(JSON.parse(text)), `${what}: ${ajv.errorsText(validate.errors)}`)
  }
}

export type ConformanceCheck = ReturnType<typeof makeConformanceCheck>
