import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../../support/assertions/operations.ts"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const most = 9007199254740991
const wide = "\u{1F600}"
const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

/** A fault of a field, or of the part of it that `within` names. */
type Wrong = readonly [value: unknown, constraint: string, message: string, within?: string]

interface Limit {
  readonly right: ReadonlyArray<unknown>
  readonly wrong: ReadonlyArray<Wrong>
}

const text = (least: number, longest: number): Limit => ({
  right: ["a".repeat(least), "a".repeat(longest), wide.repeat(longest)],
  wrong: [
    ...(least === 0 ? [] : [["", "minLength", `must have at least ${characters(least)}`] as const]),
    ["a".repeat(longest + 1), "maxLength", `must have at most ${characters(longest)}`],
    [wide.repeat(longest + 1), "maxLength", `must have at most ${characters(longest)}`],
    ["a\u0000b", "pattern", "must not contain NUL or unpaired surrogates"],
    [1, "type", "must be a string"]
  ]
})

const integer = (least: number, greatest: number): Limit => ({
  right: [least, least + 1, greatest - 1, greatest],
  wrong: [
    [least - 1, "min", `must be at least ${least}`],
    [greatest + 1, "max", `must be at most ${greatest}`],
    [0.5, "type", "must be an integer"],
    ["1", "type", "must be a number"]
  ]
})

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, ""]))

const tooManyDecimals = ["format", "must have at most 12 decimals"] as const
const badKey = ["maxLength", "must have keys of 1 to 40 characters"] as const

const limits: Readonly<Record<string, Limit>> = {
  name: text(1, 255),
  description: text(0, 1024),
  referenceType: text(1, 100),
  referenceId: text(1, 100),
  order: integer(0, most),
  amountMinor: integer(-most, most),
  quantity: {
    right: [0, -1, most, -most, 1.5, 0.1, 1e-12, -1e-12, 0.123456789012, 1234.567890123, 1e15],
    wrong: [
      [most + 1, "max", `must be at most ${most}`],
      [-most - 1, "min", `must be at least ${-most}`],
      [1e300, "max", `must be at most ${most}`],
      [1e-13, ...tooManyDecimals],
      [5e-324, ...tooManyDecimals],
      [0.1234567890123, ...tooManyDecimals],
      [0.1 + 0.2, ...tooManyDecimals],
      ["1", "type", "must be a number"],
      [true, "type", "must be a number"]
    ]
  },
  metadata: {
    right: [
      {},
      keys(50),
      { a: "" },
      { k: "v".repeat(500) },
      { k: wide.repeat(500) },
      { ["k".repeat(40)]: "v" },
      { [wide.repeat(40)]: "v" }
    ],
    wrong: [
      [keys(51), "maxItems", "must have at most 50 keys"],
      [{ "": "v" }, ...badKey],
      [{ ["k".repeat(41)]: "v" }, ...badKey],
      [{ [wide.repeat(41)]: "v" }, ...badKey],
      [{ "a\u0000b": "v" }, ...badKey],
      [{ k: "v".repeat(501) }, "maxLength", "must have at most 500 characters", "k"],
      [{ k: wide.repeat(501) }, "maxLength", "must have at most 500 characters", "k"],
      [{ k: "a\u0000b" }, "pattern", "must not contain NUL or unpaired surrogates", "k"],
      [{ a: "v", k: 1 }, "type", "must be a string", "k"],
      [{ k: null }, "type", "must be a string", "k"],
      [{ k: {} }, "type", "must be a string", "k"],
      ["text", "type", "must be an object"]
    ]
  }
}

describe("the limits of a line", () => {
  let service: Service
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    invoicing = invoiceClient(service, await service.newTenant())
  })
  afterAll(() => service.stop())

  const faultOf = ([, constraint, message, within]: Wrong, field: string): ExpectedError => [
    within === undefined ? field : `${field}.${within}`,
    constraint,
    message
  ]
  /** What a line needs beside a field, for the field to be all that matters. */
  const beside: Readonly<Record<string, object>> = {
    referenceType: { referenceId: "1" },
    referenceId: { referenceType: "work" },
    quantity: { amountMinor: 0 }
  }

  for (const [field, { right, wrong }] of Object.entries(limits)) {
    it(`hold for ${field} when it is added`, async () => {
      const { add, call, draft, tryAdd } = invoicing
      for (const value of right) {
        const { id } = await draft()
        const [line] = await add(id, { ...beside[field], [field]: value })
        assert.deepStrictEqual(line?.[field], value)
        assert.deepStrictEqual((await call("GET", `/billables/${line?.id}`)).body.data, line)
        assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
      }
      const { id } = await draft()
      for (const each of wrong) {
        const bad = { ...beside[field], [field]: each[0] }
        assertValidationError(await tryAdd(id, {}, bad), faultOf(each, `billables[1].${field}`))
      }
    })

    it(`hold for ${field} when it is changed`, async () => {
      const { add, call, draft } = invoicing
      const { id } = await draft()
      const [line] = await add(id, {
        ...beside[field],
        ...(field.startsWith("reference") ? { [field]: "before" } : {})
      })
      const path = `/billables/${line?.id}`
      for (const value of right) {
        const { body, status, text } = await call("PATCH", path, { [field]: value })
        assert.strictEqual(status, 200, text)
        assert.deepStrictEqual(body.data[field], value)
        assert.deepStrictEqual((await call("GET", path)).body, body)
      }
      const before = await call("GET", path)
      for (const each of wrong) {
        assertValidationError(await call("PATCH", path, { [field]: each[0] }), faultOf(each, field))
      }
      assert.strictEqual((await call("GET", path)).text, before.text)
      assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
    })
  }

  it("take no number that JSON writes but nothing can hold", async () => {
    const { call, draft } = invoicing
    const { id } = await draft()
    for (const field of ["quantity", "amountMinor"]) {
      const line = JSON.stringify({ ...lineOf(), [field]: 0 }).replace(`"${field}":0`, `"${field}":1e400`)
      const message = field === "quantity" ? "must be a number" : "must be an integer"
      assertValidationError(await call("POST", "/billables", `{"invoiceId":"${id}","billables":[${line}]}`), [
        `billables[0].${field}`,
        "type",
        message
      ])
    }
  })

  it("let the longest list of the fullest lines pass", async () => {
    const { add, draft } = invoicing
    const { id } = await draft()
    const lines = Array.from({ length: 1000 }, (_, order) => ({
      quantity: 1.5,
      currencyCode: "EUR",
      ...{ referenceType: "full", referenceId: `${order}`, description: "", order },
      metadata: Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`${order} ${key}`, "v".repeat(50)]))
    }))
    const added = await add(id, ...lines)
    assert.deepStrictEqual(
      added.map(({ metadata }) => metadata),
      lines.map(({ metadata }) => metadata)
    )
  })

  it("are reported a hundred at a time, whether a line is malformed or the invoice objects to it", async () => {
    const { draft, tryAdd } = invoicing
    const { id } = await draft()
    const many = (fields: object) => Array.from({ length: 1000 }, () => fields)
    const first = (field: string, ...rest: readonly [string, string]) =>
      Array.from({ length: 100 }, (_, n): ExpectedError => [`billables[${n}].${field}`, ...rest])
    assertValidationError(
      await tryAdd(id, ...many({ name: "" })),
      ...first("name", "minLength", "must have at least 1 character")
    )
    assertValidationError(
      await tryAdd(id, ...many({ currencyCode: "KWD" })),
      ...first("currencyCode", "currency", "must be the invoice's, EUR")
    )
  })

  it("are reported by one fault for a list that is too long, whatever its lines are", async () => {
    const { draft, tryAdd } = invoicing
    const { id } = await draft()
    assertValidationError(await tryAdd(id, ...Array.from({ length: 1001 }, () => ({ name: 1, colour: "red" }))), [
      "billables",
      "maxItems",
      "must have at most 1000 items"
    ])
  })

  it("are tried here for every field that can be set, but for the currency", () => {
    const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
    const patch = operationsOf(service.document).find(({ name }) => name.startsWith("PATCH /api/v1/billables/"))
    const { properties = {} } = schemas[patch?.body?.$ref?.split("/").at(-1) ?? ""] ?? {}
    assert.sameMembers(Object.keys(properties), [...Object.keys(limits), "currencyCode"])
  })
})
