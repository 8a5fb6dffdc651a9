import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, type ExpectedError, withRejectedValues } from "../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../support/assertions/operations.ts"
import { assetClient, minimalAsset } from "../support/fixtures/assets.ts"
import { type ResourceKind, resourceMaker } from "../support/fixtures/resources.ts"
import { type Service, startService } from "../support/servers/service.ts"

type Bounds = Readonly<Record<string, readonly [min: number, max: number]>>

/** Minimum and maximum length of every text. */
const texts: Partial<Record<ResourceKind, Bounds>> = {
  tenants: { name: [1, 200], description: [0, 1024] },
  clients: { name: [1, 200], description: [0, 1024] },
  addresses: {
    name: [1, 200],
    address1: [1, 200],
    address2: [0, 200],
    region: [0, 100],
    country: [1, 100],
    city: [1, 100],
    zip: [1, 20],
    registrationNumber: [0, 100],
    vatNumber: [0, 100],
    taxNumber: [0, 100]
  },
  contacts: { name: [1, 200], role: [0, 100] },
  contracts: { name: [1, 255], description: [0, 1024] },
  projects: { name: [1, 255], description: [0, 1024] }
}

/** Minimum and maximum of every number. */
const numbers: Partial<Record<ResourceKind, Bounds>> = {
  clients: { order: [0, 9007199254740991] },
  addresses: { order: [0, 9007199254740991] },
  contacts: { order: [0, 9007199254740991] },
  emails: { order: [0, 9007199254740991] },
  contracts: { order: [0, 9007199254740991], paymentTermDays: [0, 365], capMinor: [0, 9007199254740991] },
  projects: { order: [0, 9007199254740991] }
}

/** First segments of paths. The other resources have their limits here. */
const testedElsewhere = new Set([
  "members",
  "invoices",
  "billables",
  "invoice-series",
  "integrations",
  "payments",
  "credit-notes",
  "credit-note-series",
  "tax-rates",
  "webhooks"
])

const wide = "\u{1F600}"
const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

const tooShort = (field: string, min: number): ExpectedError => [
  field,
  "minLength",
  `must have at least ${characters(min)}`
]
const tooLong = (field: string, max: number): ExpectedError => [
  field,
  "maxLength",
  `must have at most ${characters(max)}`
]
const tooSmall = (field: string, min: number): ExpectedError => [field, "min", `must be at least ${min}`]
const tooLarge = (field: string, max: number): ExpectedError => [field, "max", `must be at most ${max}`]

/** An email address of the given length. */
const address = (length: number, letter = "a") => {
  const domain = "@example.test"
  return letter.repeat(length - domain.length) + domain
}

interface Limit {
  readonly kind: ResourceKind
  readonly field: string
  readonly valid: ReadonlyArray<unknown>
  readonly invalid: ReadonlyArray<readonly [value: unknown, error: ExpectedError]>
}

const eachOf = (table: Partial<Record<ResourceKind, Bounds>>) =>
  Object.entries(table).flatMap(([kind, bounds]) =>
    Object.entries(bounds).map(([field, [min, max]]) => ({ kind: kind as ResourceKind, field, min, max }))
  )

const limits: ReadonlyArray<Limit> = [
  ...eachOf(texts).map(({ field, kind, min, max }) => ({
    kind,
    field,
    valid: ["a".repeat(min), "a".repeat(max), wide.repeat(max), ` ${"a".repeat(max - 2)} `],
    invalid: [
      ...(min === 0 ? [] : [["a".repeat(min - 1), tooShort(field, min)] as const]),
      ["a".repeat(max + 1), tooLong(field, max)] as const,
      [wide.repeat(max + 1), tooLong(field, max)] as const
    ]
  })),
  ...eachOf(numbers).map(({ field, kind, min, max }) => ({
    kind,
    field,
    valid: [min, min + 1, max - 1, max],
    invalid: [[min - 1, tooSmall(field, min)] as const, [max + 1, tooLarge(field, max)] as const]
  })),
  {
    kind: "emails",
    field: "address",
    valid: ["a@b.cd", address(199), address(200)],
    invalid: [
      ["", tooShort("address", 1)],
      [address(201), tooLong("address", 200)],
      [address(201, wide), tooLong("address", 200)],
      [
        address(200, wide),
        ["address", "format", "has a character before the @ that is not allowed in an email address"]
      ]
    ]
  }
]

describe("The limits", () => {
  let service: Service
  let tenant: string
  const existing = new Map<ResourceKind, { readonly path: string; readonly body: object }>()
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
    const { bodyOf, make } = resourceMaker(service, tenant)
    for (const kind of new Set(limits.map(({ kind }) => kind))) {
      const body = await bodyOf(kind)
      existing.set(kind, { path: `/${kind}/${(await make(kind, body)).id}`, body })
    }
  })
  afterAll(() => service.stop())

  const call = (method: string, path: string, body?: unknown) =>
    service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
  const existingOf = (kind: ResourceKind) => existing.get(kind) ?? assert.fail(kind)

  for (const { field, kind, valid, invalid } of limits) {
    it(`of ${field} apply to POST /${kind}`, async () => {
      const { body } = existingOf(kind)
      for (const value of valid) {
        const created = await call("POST", `/${kind}`, { ...body, [field]: value })
        assert.strictEqual(created.status, 201, created.text)
        assert.strictEqual(created.body.data[field], value)
        assert.deepStrictEqual((await call("GET", `/${kind}/${created.body.data.id}`)).body, created.body)
      }
      for (const [value, error] of invalid) {
        assertValidationError(await call("POST", `/${kind}`, { ...body, [field]: value }), error)
      }
    })

    it(`of ${field} apply to PATCH /${kind}`, async () => {
      const { path } = existingOf(kind)
      for (const value of valid) {
        const changed = await call("PATCH", path, { [field]: value })
        assert.strictEqual(changed.status, 200, changed.text)
        assert.strictEqual(changed.body.data[field], value)
        const read = await call("GET", path)
        assert.deepStrictEqual(read.body, changed.body)
        for (const [other, error] of invalid)
          assertValidationError(await call("PATCH", path, { [field]: other }), error)
        assert.deepStrictEqual((await call("GET", path)).body, read.body, "a rejected patch changes nothing")
      }
    })
  }

  const fileNames = ["a", "a".repeat(255), wide.repeat(255)]
  const longFileName = tooLong("originalFileName", 255)
  const invalidFileNames = [
    ["", tooShort("originalFileName", 1)],
    ["a".repeat(256), longFileName],
    [wide.repeat(256), longFileName]
  ] as const

  it("of originalFileName and sizeBytes apply to POST /assets", async () => {
    const declare = (fields: object) => call("POST", "/assets", { ...minimalAsset, ...fields })
    for (const originalFileName of fileNames) {
      const { body, status } = await declare({ originalFileName })
      assert.deepStrictEqual([status, body.data.originalFileName], [201, originalFileName])
    }
    for (const [originalFileName, error] of invalidFileNames)
      assertValidationError(await declare({ originalFileName }), error)
    for (const sizeBytes of [1, 2, 9007199254740990, 9007199254740991]) {
      const { body, status } = await declare({ sizeBytes })
      assert.deepStrictEqual([status, body.data.sizeBytes], [201, sizeBytes])
      assert.deepStrictEqual((await call("GET", `/assets/${body.data.assetId}/record`)).body, body)
    }
    assertValidationError(await declare({ sizeBytes: 0 }), tooSmall("sizeBytes", 1))
    assertValidationError(await declare({ sizeBytes: 9007199254740992 }), tooLarge("sizeBytes", 9007199254740991))
    assertValidationError(await declare({ sizeBytes: 1.5 }), ["sizeBytes", "type", "must be an integer"])
  })

  it("of originalFileName apply to PATCH /assets/{assetId}", async () => {
    const { assetId } = await assetClient(service, tenant).declare()
    const change = (originalFileName: string) => call("PATCH", `/assets/${assetId}`, { originalFileName })
    for (const name of fileNames) assert.strictEqual((await change(name)).body.data.originalFileName, name)
    for (const [name, error] of invalidFileNames) assertValidationError(await change(name), error)
    const { body } = await call("GET", `/assets/${assetId}/record`)
    assert.strictEqual(body.data.originalFileName, fileNames.at(-1))
  })

  for (const kind of ["clients", "tenants"] as const) {
    it(`of order apply to the media of ${kind}`, async () => {
      const { assetId } = await assetClient(service, tenant).createReady()
      const path = `${kind === "tenants" ? `/tenants/${tenant}` : existingOf(kind).path}/media/logo`
      for (const order of [0, 1, 9007199254740990, 9007199254740991]) {
        const { body, status } = await call("PUT", path, { assetId, order })
        assert.deepStrictEqual([status, body.data.media[0].order], [200, order])
      }
      assertValidationError(await call("PUT", path, { assetId, order: -1 }), tooSmall("order", 0))
      assertValidationError(
        await call("PUT", path, { assetId, order: 9007199254740992 }),
        tooLarge("order", 9007199254740991)
      )
    })
  }

  it("are reported together when several fields exceed them", async () => {
    const exceeded = limits.filter(({ kind }) => kind === "addresses").flatMap(({ invalid }) => invalid.slice(0, 1))
    const body = Object.fromEntries(exceeded.map(([value, [field]]) => [field, value]))
    const expected = exceeded.map(([, error]) => error)
    assert.lengthOf(expected, 11)
    for (const [method, path] of [
      ["POST", "/addresses"],
      ["PATCH", existingOf("addresses").path]
    ] as const) {
      const response = await call(method, path, body)
      assert.strictEqual(response.status, 400)
      assert.sameDeepMembers(
        response.body.details,
        withRejectedValues(response, expected).map(([field, constraint, message]) => ({ field, message, constraint }))
      )
    }
  })

  it("are tested here for every bounded field of these resources", () => {
    const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
    const resolved = ({ $ref, anyOf, ...schema }: JsonSchema): JsonSchema =>
      $ref === undefined ? (anyOf?.[0] ?? schema) : (schemas[$ref.split("/").at(-1) ?? ""] ?? {})
    const bounded = operationsOf(service.document).flatMap(({ body = {}, method, path }) => {
      const [kind = ""] = path.replace("/api/v1/", "").split("/", 1)
      return Object.entries(resolved(body).properties ?? {}).flatMap(([field, property]) => {
        const { maximum, maxLength } = resolved(property)
        return !testedElsewhere.has(kind) && (maxLength ?? maximum) !== undefined ? [`${method} ${kind} ${field}`] : []
      })
    })
    assert.sameMembers(bounded, [
      ...limits.flatMap(({ field, kind }) => [`POST ${kind} ${field}`, `PATCH ${kind} ${field}`]),
      ...["POST assets originalFileName", "POST assets sizeBytes", "PATCH assets originalFileName"],
      ...["PUT clients order", "PUT tenants order"]
    ])
  })
})
