import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { assert, describe, it } from "vitest"
import { eventTypes } from "../../src/domain/events/EventCatalogue.ts"
import { Api } from "../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../src/http/api/OpenApi.ts"
import { describeAccess } from "../../src/http/api/openApi/Texts.ts"

interface Media {
  readonly schema: object
  readonly example?: unknown
}
interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Record<string, Media> }>>
}
interface Document {
  readonly info: { readonly description: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly "x-tagGroups": ReadonlyArray<{ readonly name: string; readonly tags: ReadonlyArray<string> }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Operation["responses"]
  }
}

// The type of the document declares only the parts that its generation uses. JSON drops undefined fields of examples.
const document: Document = JSON.parse(JSON.stringify(makeOpenApiDocument(Api)))
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
const webhooks = Object.values(document.webhooks).map(({ post }) => post)

const isSentence = (text: string | undefined) => text !== undefined && /^[A-Z`].*[.]$/s.test(text)

/** Every media type of requests and responses, by the place it has. */
const media = [...operations, ...webhooks].flatMap(({ operationId, requestBody, responses }) =>
  [requestBody, ...Object.values(responses)].flatMap((part) =>
    Object.entries(part?.content ?? {}).map(([type, content]) => ({ where: `${operationId} ${type}`, ...content }))
  )
)
const errors = Object.entries(document.components.responses).flatMap(([where, { content }]) =>
  Object.values(content ?? {}).map((one) => ({ where, ...one }))
)

const isFile = ({ schema }: Media) => "format" in schema && schema.format === "binary"

/** The places of all properties in a schema without a description of their own, or of the component they refer to. */
const undescribed = (schema: unknown, where: string): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  const properties = "properties" in schema ? Object.entries(Object(schema.properties)) : []
  return [
    ...properties.flatMap(([name, property]) => {
      const { $ref, description } = Object(property)
      const component = Object(document.components.schemas[String($ref).split("/").at(-1) ?? ""])
      return isSentence(description ?? component.description) ? [] : [`${where}.${name}`]
    }),
    ...Object.entries(schema).flatMap(([key, part]) => (key === "examples" ? [] : undescribed(part, `${where}.${key}`)))
  ]
}

describe("The texts of the OpenAPI document", () => {
  it("have a summary and a description for every operation and webhook", () => {
    for (const { description, operationId, summary = "" } of [...operations, ...webhooks]) {
      assert.match(summary, /^[A-Z].*[^.]$/, operationId)
      assert.isAbove(description?.length ?? 0, summary.length, operationId)
    }
  })

  it("say of every operation who may call it, and of every write which events follow", () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { description }] of Object.entries(methods)) {
        assert.match(description ?? "", /^\*\*Who may call it:\*\* .+\.$/m, `${method} ${path}`)
        if (method !== "get") assert.match(description ?? "", /^\*\*Events:\*\* (none|`.+`)$/m, `${method} ${path}`)
      }
    }
    const { description } = document.paths["/api/v1/invoices/{invoiceId}/void"]?.["post"] ?? assert.fail()
    assert.include(description, "**Who may call it:** members of the tenant with the role ADMIN or OWNER.")
    assert.include(description, "- an invoice that is PAID or VOID, or settled in part (`state`)")
    assert.include(description, "**Events:** `invoice.voided`")
  })

  it("name the roles that an access rule allows", () => {
    const member = { for: "member", tenant: "header", hidden: false } as const
    assert.strictEqual(describeAccess({ ...member, role: "VIEWER" }), "every member of the tenant.")
    assert.strictEqual(
      describeAccess({ ...member, role: "MEMBER" }),
      "members of the tenant with the role MEMBER, ADMIN or OWNER."
    )
    assert.strictEqual(
      describeAccess({ ...member, role: "OWNER", hidden: true }),
      "members of the tenant with the role OWNER. Everyone else gets a 404."
    )
  })

  it("have a sentence for every parameter, schema and property", () => {
    for (const { operationId, parameters } of [...operations, ...webhooks]) {
      for (const { description, name } of parameters) assert.isTrue(isSentence(description), `${operationId} ${name}`)
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.isTrue(isSentence("description" in schema ? String(schema.description) : undefined), name)
    }
    assert.deepStrictEqual(undescribed(document.components.schemas, "schemas"), [])
  })

  it("have a valid example for every request and response that is no file", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    formats.default(ajv)
    const checked = [...media.filter((one) => !isFile(one)), ...errors]
    // In one document, so that a component that many refer to is compiled once.
    ajv.addSchema({ $id: "api", components: document.components, $defs: { ...checked.map(({ schema }) => schema) } })
    for (const [index, { example, where }] of checked.entries()) {
      assert.isDefined(example, where)
      const validate = ajv.getSchema(`api#/$defs/${index}`) ?? assert.fail(where)
      assert.isTrue(validate(example), `${where}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(example)}`)
    }
  })

  it("have examples that show every required field", () => {
    const { example } = document.paths["/api/v1/clients"]?.["post"]?.requestBody?.content["application/json"] ?? {}
    assert.deepStrictEqual(example, { name: "Northwind", description: "Pumps and valves", language: "de", order: 1 })
    const created = document.paths["/api/v1/invoices"]?.["post"]?.responses["201"]?.content?.["application/json"]
    const { data } = Object(created?.example)
    assert.deepInclude(data, { status: "DRAFT", totalMinor: 0, currencyCode: "EUR" })
    assert.notProperty(data, "invoiceNumber")
  })

  it("refer to a shared response with an example for every error", () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { $ref }] of Object.entries(responses).filter(([code]) => Number(code) >= 400)) {
        assert.property(document.components.responses, $ref?.split("/").at(-1) ?? "", `${operationId} ${status}`)
      }
    }
  })

  it("group all tags under headings, in the order of the tags", () => {
    const tags = document.tags.map(({ name }) => name)
    assert.deepStrictEqual(
      document["x-tagGroups"].flatMap((group) => group.tags),
      tags
    )
    assert.strictEqual(tags[0], "Tenants")
    for (const { description, name } of document.tags) assert.isTrue(isSentence(description), name)
    for (const { operationId, tags: used } of [...operations, ...webhooks])
      assert.includeMembers(tags, [...used], operationId)
  })

  it("describe every event type as a webhook", () => {
    assert.sameMembers(
      Object.keys(document.webhooks),
      eventTypes.map(({ type }) => type)
    )
    const summaries = webhooks.map(({ summary }) => summary)
    assert.includeMembers(summaries, ["A client was created", "An invoice was voided", "An integration was paused"])
    assert.lengthOf(new Set(summaries), summaries.length)
    const { example } = document.webhooks["invoice.paid"]?.post.requestBody?.content["application/json"] ?? {}
    assert.deepInclude(Object(example).data, { status: "PAID" })
  })

  it("have none of the words that only the code knows", () => {
    assert.notMatch(JSON.stringify(document), /InFull|\btold of\b|\bledger\b|fkey|_id_key/)
  })
})
