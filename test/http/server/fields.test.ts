import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { body, integer, maxItems, oneOf, optional, text } from "../../../src/domain/Schemas.ts"
import { anyCaller, MaxBodyBytes } from "../../../src/http/api/Access.ts"
import { data } from "../../../src/http/api/Envelope.ts"
import { operation } from "../../../src/http/api/Operation.ts"
import { PageQuery } from "../../../src/http/api/Paging.ts"
import { handlerGroups } from "../../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../../src/http/server/Handlers.ts"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const Line = body({ amount: integer(0, 10), kind: oneOf("A", "B"), note: optional(text(1, 5)) })

/** An operation with both a query and a nested body, which the API does not have. */
const probes = handleGroup(
  HttpApiGroup.make("probes").add(
    HttpApiEndpoint.post("probe", "/probes")
      .setUrlParams(PageQuery)
      .setPayload(body({ lines: Schema.Array(Line).pipe(maxItems(50_000)), open: optional(Schema.Boolean) }))
      .addSuccess(data(Schema.String))
      .annotateContext(operation("Probe", anyCaller, { description: "For this test." }))
      .annotate(MaxBodyBytes, 4 * 1024 * 1024)
  ),
  Effect.void,
  () => ({ probe: ({ payload }) => Effect.succeed(`${payload.lines.length} lines`) })
)

const maxSafe = Number.MAX_SAFE_INTEGER
const unknown = (field: string): ExpectedError => [field, "unknown", "is not a known property"]
const required = (field: string): ExpectedError => [field, "required", "is required"]
const notString = (field: string): ExpectedError => [field, "type", "must be a string"]
const unstorable = (field: string): ExpectedError => [field, "pattern", "must not contain NUL or unpaired surrogates"]
const notNumber: ExpectedError = ["order", "type", "must be a number"]
const notInteger: ExpectedError = ["order", "type", "must be an integer"]
const tooSmall: ExpectedError = ["order", "min", "must be at least 0"]
const tooLarge: ExpectedError = ["order", "max", "must be at most 9007199254740991"]
const shortName: ExpectedError = ["name", "minLength", "must have at least 1 character"]
const longName: ExpectedError = ["name", "maxLength", "must have at most 200 characters"]
const longDescription: ExpectedError = ["description", "maxLength", "must have at most 1024 characters"]

describe("Field validation", () => {
  let service: Service
  let tenant: string
  let id: string
  beforeAll(async () => {
    service = await startService({}, [...handlerGroups, probes])
    tenant = await service.newTenant()
    id = (await create(`{"name":"Northwind"}`)).body.data.id
  })
  afterAll(() => service.stop())

  const create = (body: string) => service.api("POST", "/clients", { as: "owner", tenant, body })
  const change = (body: string) => service.api("PATCH", `/clients/${id}`, { as: "owner", tenant, body })
  const probe = (query: string, body: string) => service.api("POST", `/probes${query}`, { as: "owner", body })

  it.each<[string, ...Array<ExpectedError>]>([
    ["{}", required("name")],
    [`{"name":null}`, notString("name")],
    [`{"name":1}`, notString("name")],
    [`{"name":["Northwind"]}`, notString("name")],
    [`{"name":""}`, shortName],
    [`{"name":"a\\u0000b"}`, unstorable("name")],
    [`{"name":"a\\ud800b"}`, unstorable("name")],
    [`{"name":"\\udc00\\ud800"}`, unstorable("name")],
    [`{"name":"a","description":null}`, notString("description")],
    [`{"name":"a","description":"\\u0000"}`, unstorable("description")],
    [`{"name":"a","order":"1"}`, notNumber],
    [`{"name":"a","order":null}`, notNumber],
    [`{"name":"a","order":true}`, notNumber],
    [`{"name":"a","order":1.5}`, notInteger],
    [`{"name":"a","order":1e400}`, notInteger],
    [`{"name":"a","order":-1e400}`, notInteger],
    [`{"name":"a","order":-1}`, tooSmall],
    [`{"name":"a","order":9007199254740992}`, tooLarge],
    [`{"name":"a","order":1e300}`, tooLarge],
    [`{"name":"a","order":${"9".repeat(300)}}`, tooLarge],
    [`{"name":"a","colour":"red"}`, unknown("colour")],
    [`{"name":"a","id":"clnt_mine"}`, unknown("id")],
    [`{"name":"a","__proto__":{"order":1}}`, unknown("__proto__")],
    [`{"name":"a","constructor":1}`, unknown("constructor")],
    [`{"name":"a","Name":"b"}`, unknown("Name")],
    [`{"__proto__":{"name":"a"}}`, unknown("__proto__"), required("name")],
    [
      `{"colour":1,"order":-1,"description":2,"name":""}`,
      unknown("colour"),
      shortName,
      notString("description"),
      tooSmall
    ]
  ])("rejects %s with all its errors", async (body, ...errors) => {
    assertValidationError(await create(body), ...errors)
  })

  it("counts the length of a text in code points", async () => {
    const wide = "\u{1F600}"
    for (const [name, description] of [
      ["n".repeat(200), "d".repeat(1024)],
      [wide.repeat(200), wide.repeat(1024)],
      ["n", ""]
    ]) {
      const { body, status } = await create(JSON.stringify({ name, description }))
      assert.strictEqual(status, 201)
      assert.deepInclude(body.data, { name, description })
    }
    for (const letter of ["n", wide]) {
      assertValidationError(await create(JSON.stringify({ name: letter.repeat(201) })), longName)
      assertValidationError(
        await create(JSON.stringify({ name: "n", description: letter.repeat(1025) })),
        longDescription
      )
    }
  })

  it("keeps text unchanged", async () => {
    const name = ' \t"\\/\u{1F468}\u200d\u{1F469} \u0001 é e\u0301 \u2028 </script> '
    const { body } = await create(JSON.stringify({ name }))
    assert.strictEqual(body.data.name, name)
    const read = await service.api("GET", `/clients/${body.data.id}`, { as: "owner", tenant })
    assert.strictEqual(read.body.data.name, name)
  })

  it("accepts every order from 0 to the maximum safe integer", async () => {
    for (const [written, stored] of [
      ["0", 0],
      ["-0", 0],
      ["1e3", 1000],
      ["1.0", 1],
      [String(maxSafe), maxSafe]
    ]) {
      const { body } = await create(`{"name":"a","order":${written}}`)
      assert.strictEqual(body.data.order, stored)
      const read = await service.api("GET", `/clients/${body.data.id}`, { as: "owner", tenant })
      assert.deepStrictEqual(read.body, body)
    }
  })

  it.each<[string, ...Array<ExpectedError>]>([
    ["{}", ["body", "required", "must contain at least one field to change"]],
    [`{"name":null}`, notString("name")],
    [`{"name":null,"order":-1}`, notString("name"), tooSmall],
    [`{"name":""}`, shortName],
    [`{"description":5}`, notString("description")],
    [`{"order":"1"}`, notNumber],
    [`{"order":9007199254740992}`, tooLarge],
    [`{"createdAt":"2026-01-01T00:00:00Z"}`, unknown("createdAt")],
    [`{"media":[]}`, unknown("media")],
    ["[]", ["body", "type", "must be an object"]]
  ])("rejects the patch %s with all its errors", async (body, ...errors) => {
    assertValidationError(await change(body), ...errors)
  })

  it("reports errors of the query and the body together, each with its path", async () => {
    assertValidationError(
      await probe("?limit=0&cursor=!", `{"lines":[{"amount":0,"kind":"A"},{"amount":11,"kind":"C","x":1}],"open":1}`),
      ["limit", "min", "must be at least 1"],
      ["cursor", "format", "is not a cursor of this list; use the one in the Link header of the previous page"],
      unknown("lines[1].x"),
      ["lines[1].amount", "max", "must be at most 10"],
      ["lines[1].kind", "enum", "must be one of A, B"],
      ["open", "type", "must be true or false"]
    )
    assertValidationError(
      await probe("?limit=201", `{"lines":{}}`),
      ["limit", "max", "must be at most 200"],
      ["lines", "type", "must be an array"]
    )
    assertValidationError(await probe("", `{"lines":[[]]}`), ["lines[0]", "type", "must be an object"])
  })

  it.each(["", "abc", "1.5", "1e2", " 1", "+1", "0x1", "99999999999999999"])(
    "rejects '%s' as an integer in the query",
    async (limit) => {
      assertValidationError(await probe(`?limit=${encodeURIComponent(limit)}`, `{"lines":[]}`), [
        "limit",
        "type",
        "must be an integer"
      ])
    }
  )

  it("reports the first 100 of 60 000 errors", async () => {
    const lines = Array.from({ length: 30_000 }, () => "{}")
    const errors = Array.from({ length: 50 }, (_, n) => [required(`lines[${n}].amount`), required(`lines[${n}].kind`)])
    assertValidationError(await probe("", `{"lines":[${lines}]}`), ...errors.flat())
  })
})
