import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../../support/assertions/operations.ts"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const maxInteger = 9007199254740991
const emoji = "\u{1F600}"
const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

/** An invalid value and its error, which is of the field or of its part `within`. */
type InvalidValue = readonly [value: unknown, constraint: string, message: string, within?: string]

interface Limit {
  readonly valid: ReadonlyArray<unknown>
  readonly invalid: ReadonlyArray<InvalidValue>
}

const text = (min: number, max: number): Limit => ({
  valid: ["a".repeat(min), "a".repeat(max), emoji.repeat(max)],
  invalid: [
    ...(min === 0 ? [] : [["", "minLength", `must have at least ${characters(min)}`] as const]),
    ["a".repeat(max + 1), "maxLength", `must have at most ${characters(max)}`],
    [emoji.repeat(max + 1), "maxLength", `must have at most ${characters(max)}`],
    ["a\u0000b", "pattern", "must not contain NUL or unpaired surrogates"],
    [1, "type", "must be a string"]
  ]
})

const integer = (min: number, max: number): Limit => ({
  valid: [min, min + 1, max - 1, max],
  invalid: [
    [min - 1, "min", `must be at least ${min}`],
    [max + 1, "max", `must be at most ${max}`],
    [0.5, "type", "must be an integer"],
    ["1", "type", "must be a number"]
  ]
})

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, ""]))

const tooManyDecimals = ["format", "must have at most 12 decimals"] as const
const badUnitCode = ["pattern", "must be a UN/ECE unit code of 2 or 3 capital letters and digits such as HUR"] as const
const badKey = ["maxLength", "must have keys of 1 to 40 characters"] as const

const taxRateId = (n: number) => `tax_${String(n).padStart(26, "0")}`
const oneOfBoth = ["required", "must have exactly one of percent and amountMinor"] as const

const limits: Readonly<Record<string, Limit>> = {
  discountReason: text(1, 200),
  discount: {
    valid: [{ percent: 0.0001 }, { percent: 100 }, { amountMinor: 1 }],
    invalid: [
      [{}, ...oneOfBoth],
      [{ percent: 1, amountMinor: 1 }, ...oneOfBoth],
      [{ percent: 0 }, "min", "must be at least 0.0001", "percent"],
      [{ percent: 100.0001 }, "max", "must be at most 100", "percent"],
      [{ percent: 33.33333 }, "format", "must have at most 4 decimals", "percent"],
      [{ amountMinor: 0 }, "min", "must be at least 1", "amountMinor"],
      [10, "type", "must be an object"]
    ]
  },
  taxRateIds: {
    valid: [[]],
    invalid: [
      [[1, 2, 3, 4].map(taxRateId), "maxItems", "must have at most 3 items"],
      [[1, 1].map(taxRateId), "unique", "must not contain a tax rate twice"],
      ["", "type", "must be an array"]
    ]
  },
  unitCode: {
    valid: ["C62", "HUR", "4K", "10", "XPP"],
    invalid: ["", "h", "C", "HOUR", "hur", "H R", " C62", "C62\n", "É12"].map((code) => [code, ...badUnitCode] as const)
  },
  name: text(1, 255),
  description: text(0, 1024),
  referenceType: text(1, 100),
  referenceId: text(1, 100),
  order: integer(0, maxInteger),
  amountMinor: integer(-maxInteger, maxInteger),
  quantity: {
    valid: [0, -1, maxInteger, -maxInteger, 1.5, 0.1, 1e-12, -1e-12, 0.123456789012, 1234.567890123, 1e15],
    invalid: [
      [maxInteger + 1, "max", `must be at most ${maxInteger}`],
      [-maxInteger - 1, "min", `must be at least ${-maxInteger}`],
      [1e300, "max", `must be at most ${maxInteger}`],
      [1e-13, ...tooManyDecimals],
      [5e-324, ...tooManyDecimals],
      [0.1234567890123, ...tooManyDecimals],
      [0.1 + 0.2, ...tooManyDecimals],
      ["1", "type", "must be a number"],
      [true, "type", "must be a number"]
    ]
  },
  metadata: {
    valid: [
      {},
      keys(50),
      { a: "" },
      { k: "v".repeat(500) },
      { k: emoji.repeat(500) },
      { ["k".repeat(40)]: "v" },
      { [emoji.repeat(40)]: "v" }
    ],
    invalid: [
      [keys(51), "maxItems", "must have at most 50 keys"],
      [{ "": "v" }, ...badKey],
      [{ ["k".repeat(41)]: "v" }, ...badKey],
      [{ [emoji.repeat(41)]: "v" }, ...badKey],
      [{ "a\u0000b": "v" }, ...badKey],
      [{ k: "v".repeat(501) }, "maxLength", "must have at most 500 characters", "k"],
      [{ k: emoji.repeat(501) }, "maxLength", "must have at most 500 characters", "k"],
      [{ k: "a\u0000b" }, "pattern", "must not contain NUL or unpaired surrogates", "k"],
      [{ a: "v", k: 1 }, "type", "must be a string", "k"],
      [{ k: null }, "type", "must be a string", "k"],
      [{ k: {} }, "type", "must be a string", "k"],
      ["text", "type", "must be an object"]
    ]
  }
}

describe("The limits of a billable", () => {
  let service: Service
  let invoices: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    invoices = invoiceClient(service, await service.newTenant())
  })
  afterAll(() => service.stop())

  const errorOf = ([, constraint, message, within]: InvalidValue, field: string): ExpectedError => [
    within === undefined ? field : `${field}.${within}`,
    constraint,
    message
  ]
  /** Fields that a line needs so that only the tested field decides. */
  const requiredFields: Readonly<Record<string, object>> = {
    referenceType: { referenceId: "1" },
    referenceId: { referenceType: "work" },
    quantity: { amountMinor: 0 },
    discountReason: { discount: { percent: 1 } }
  }
  /** The field of a response. */
  const shownAs = (field: string) => (field === "taxRateIds" ? "taxRates" : field)

  for (const [field, { invalid, valid }] of Object.entries(limits)) {
    it(`apply to ${field} in POST /billables`, async () => {
      const { add, call, draft, tryAdd } = invoices
      const { id } = await draft()
      const lineWith = (value: unknown) => ({ ...requiredFields[field], [field]: value })
      const added = await add(id, ...valid.map(lineWith))
      assert.deepStrictEqual(
        added.map((line) => line[shownAs(field)]),
        valid
      )
      for (const line of added) assert.deepStrictEqual((await call("GET", `/billables/${line.id}`)).body.data, line)
      assertValidationError(
        await tryAdd(id, {}, ...invalid.map(([value]) => lineWith(value))),
        ...invalid.map((each, index) => errorOf(each, `billables[${index + 1}].${field}`))
      )
      // Releases the references for the other tests.
      assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
    })

    it(`apply to ${field} in PATCH /billables/{billableId}`, async () => {
      const { add, call, draft } = invoices
      const { id } = await draft()
      const [line] = await add(id, {
        ...requiredFields[field],
        ...(field.startsWith("reference") ? { [field]: "before" } : {})
      })
      const path = `/billables/${line?.id}`
      for (const value of valid) {
        const { body, status, text } = await call("PATCH", path, { [field]: value })
        assert.strictEqual(status, 200, text)
        assert.deepStrictEqual(body.data[shownAs(field)], value)
        assert.deepStrictEqual((await call("GET", path)).body, body)
      }
      const before = await call("GET", path)
      for (const each of invalid) {
        assertValidationError(await call("PATCH", path, { [field]: each[0] }), errorOf(each, field))
      }
      assert.strictEqual((await call("GET", path)).text, before.text)
      assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
    })
  }

  it("reject a JSON number that is larger than any double", async () => {
    const { call, draft } = invoices
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

  it("accept 1000 lines with all fields and 50 metadata keys each", async () => {
    const { add, draft } = invoices
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

  it("report at most 100 errors, of malformed lines and of business rules", async () => {
    const { draft, tryAdd } = invoices
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
      ...first("currencyCode", "currency", "must be EUR, the currency of the invoice, but is KWD")
    )
  })

  it("report one error for a list of 1001 invalid lines", async () => {
    const { draft, tryAdd } = invoices
    const { id } = await draft()
    assertValidationError(await tryAdd(id, ...Array.from({ length: 1001 }, () => ({ name: 1, colour: "red" }))), [
      "billables",
      "maxItems",
      "must have at most 1000 items"
    ])
  })

  it("are tested for every writable field except the currency", () => {
    const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
    const patch = operationsOf(service.document).find(({ name }) => name.startsWith("PATCH /api/v1/billables/"))
    const { properties = {} } = schemas[patch?.body?.$ref?.split("/").at(-1) ?? ""] ?? {}
    assert.sameMembers(Object.keys(properties), [...Object.keys(limits), "currencyCode"])
  })
})
