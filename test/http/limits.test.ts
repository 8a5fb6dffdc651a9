import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../support/assertions/operations.ts"
import { assetClient, minimalAsset } from "../support/fixtures/assets.ts"
import { type ResourceKind, resourceMaker } from "../support/fixtures/resources.ts"
import { type Service, startService } from "../support/servers/service.ts"

type Bounds = Readonly<Record<string, readonly [least: number, most: number]>>

/** The fewest and the most characters of every text. */
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
    vatNumber: [0, 100]
  },
  contacts: { name: [1, 200], role: [0, 100] },
  contracts: { name: [1, 255], description: [0, 1024] },
  projects: { name: [1, 255], description: [0, 1024] }
}

/** The least and the greatest of every number. */
const numbers: Partial<Record<ResourceKind, Bounds>> = {
  clients: { order: [0, 9007199254740991] },
  addresses: { order: [0, 9007199254740991] },
  contacts: { order: [0, 9007199254740991] },
  emails: { order: [0, 9007199254740991] },
  contracts: { order: [0, 9007199254740991], paymentTermDays: [0, 365], capMinor: [0, 9007199254740991] },
  projects: { order: [0, 9007199254740991] }
}

const wide = "\u{1F600}"
const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

const tooShort = (field: string, least: number): ExpectedError => [
  field,
  "minLength",
  `must have at least ${characters(least)}`
]
const tooLong = (field: string, most: number): ExpectedError => [
  field,
  "maxLength",
  `must have at most ${characters(most)}`
]
const tooSmall = (field: string, least: number): ExpectedError => [field, "min", `must be at least ${least}`]
const tooGreat = (field: string, most: number): ExpectedError => [field, "max", `must be at most ${most}`]

/** An email address of so many characters. */
const address = (length: number, letter = "a") => {
  const domain = "@example.test"
  return letter.repeat(length - domain.length) + domain
}

interface Limit {
  readonly kind: ResourceKind
  readonly field: string
  readonly right: ReadonlyArray<unknown>
  readonly wrong: ReadonlyArray<readonly [value: unknown, fault: ExpectedError]>
}

const eachOf = (table: Partial<Record<ResourceKind, Bounds>>) =>
  Object.entries(table).flatMap(([kind, bounds]) =>
    Object.entries(bounds).map(([field, [least, most]]) => ({ kind: kind as ResourceKind, field, least, most }))
  )

const limits: ReadonlyArray<Limit> = [
  ...eachOf(texts).map(({ field, kind, least, most }) => ({
    kind,
    field,
    right: ["a".repeat(least), "a".repeat(most), wide.repeat(most), ` ${"a".repeat(most - 2)} `],
    wrong: [
      ...(least === 0 ? [] : [["a".repeat(least - 1), tooShort(field, least)] as const]),
      ["a".repeat(most + 1), tooLong(field, most)] as const,
      [wide.repeat(most + 1), tooLong(field, most)] as const
    ]
  })),
  ...eachOf(numbers).map(({ field, kind, least, most }) => ({
    kind,
    field,
    right: [least, least + 1, most - 1, most],
    wrong: [[least - 1, tooSmall(field, least)] as const, [most + 1, tooGreat(field, most)] as const]
  })),
  {
    kind: "emails",
    field: "address",
    right: ["a@b.cd", address(199), address(200)],
    wrong: [
      ["", tooShort("address", 1)],
      [address(201), tooLong("address", 200)],
      [address(201, wide), tooLong("address", 200)],
      [address(200, wide), ["address", "format", "has a character before the @ that addresses cannot have"]]
    ]
  }
]

describe("limits", () => {
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
  const of = (kind: ResourceKind) => existing.get(kind) ?? assert.fail(kind)

  for (const { field, kind, right, wrong } of limits) {
    it(`of ${field} in ${kind} hold when one is created`, async () => {
      const { body } = of(kind)
      for (const value of right) {
        const made = await call("POST", `/${kind}`, { ...body, [field]: value })
        assert.strictEqual(made.status, 201, made.text)
        assert.strictEqual(made.body.data[field], value)
        assert.deepStrictEqual((await call("GET", `/${kind}/${made.body.data.id}`)).body, made.body)
      }
      for (const [value, fault] of wrong) {
        assertValidationError(await call("POST", `/${kind}`, { ...body, [field]: value }), fault)
      }
    })

    it(`of ${field} in ${kind} hold when one is changed`, async () => {
      const { path } = of(kind)
      for (const value of right) {
        const changed = await call("PATCH", path, { [field]: value })
        assert.strictEqual(changed.status, 200, changed.text)
        assert.strictEqual(changed.body.data[field], value)
        const read = await call("GET", path)
        assert.deepStrictEqual(read.body, changed.body)
        for (const [other, fault] of wrong) assertValidationError(await call("PATCH", path, { [field]: other }), fault)
        assert.deepStrictEqual((await call("GET", path)).body, read.body, "is left alone by what was refused")
      }
    })
  }

  const fileNames = ["a", "a".repeat(255), wide.repeat(255)]
  const longFileName = tooLong("originalFileName", 255)
  const badFileNames = [
    ["", tooShort("originalFileName", 1)],
    ["a".repeat(256), longFileName],
    [wide.repeat(256), longFileName]
  ] as const

  it("of the file name and size of assets hold when one is declared", async () => {
    const declare = (fields: object) => call("POST", "/assets", { ...minimalAsset, ...fields })
    for (const originalFileName of fileNames) {
      const { body, status } = await declare({ originalFileName })
      assert.deepStrictEqual([status, body.data.originalFileName], [201, originalFileName])
    }
    for (const [originalFileName, fault] of badFileNames)
      assertValidationError(await declare({ originalFileName }), fault)
    for (const sizeBytes of [1, 2, 9007199254740990, 9007199254740991]) {
      const { body, status } = await declare({ sizeBytes })
      assert.deepStrictEqual([status, body.data.sizeBytes], [201, sizeBytes])
      assert.deepStrictEqual((await call("GET", `/assets/${body.data.assetId}/record`)).body, body)
    }
    assertValidationError(await declare({ sizeBytes: 0 }), tooSmall("sizeBytes", 1))
    assertValidationError(await declare({ sizeBytes: 9007199254740992 }), tooGreat("sizeBytes", 9007199254740991))
    assertValidationError(await declare({ sizeBytes: 1.5 }), ["sizeBytes", "type", "must be an integer"])
  })

  it("of the file name of assets hold when one is changed", async () => {
    const { assetId } = await assetClient(service, tenant).declare()
    const change = (originalFileName: string) => call("PATCH", `/assets/${assetId}`, { originalFileName })
    for (const name of fileNames) assert.strictEqual((await change(name)).body.data.originalFileName, name)
    for (const [name, fault] of badFileNames) assertValidationError(await change(name), fault)
    const { body } = await call("GET", `/assets/${assetId}/record`)
    assert.strictEqual(body.data.originalFileName, fileNames.at(-1))
  })

  for (const kind of ["clients", "tenants"] as const) {
    it(`of the order of what hangs on ${kind} hold`, async () => {
      const { assetId } = await assetClient(service, tenant).ready()
      const path = `${kind === "tenants" ? `/tenants/${tenant}` : of(kind).path}/media/logo`
      for (const order of [0, 1, 9007199254740990, 9007199254740991]) {
        const { body, status } = await call("PUT", path, { assetId, order })
        assert.deepStrictEqual([status, body.data.media[0].order], [200, order])
      }
      assertValidationError(await call("PUT", path, { assetId, order: -1 }), tooSmall("order", 0))
      assertValidationError(
        await call("PUT", path, { assetId, order: 9007199254740992 }),
        tooGreat("order", 9007199254740991)
      )
    })
  }

  it("are told together where several are crossed", async () => {
    const crossed = limits.filter(({ kind }) => kind === "addresses").flatMap(({ wrong }) => wrong.slice(0, 1))
    const body = Object.fromEntries(crossed.map(([value, [field]]) => [field, value]))
    const told = crossed.map(([, fault]) => fault)
    assert.lengthOf(told, 10)
    for (const [method, path] of [
      ["POST", "/addresses"],
      ["PATCH", of("addresses").path]
    ] as const) {
      const answer = await call(method, path, body)
      assert.strictEqual(answer.status, 400)
      assert.sameDeepMembers(
        answer.body.details,
        told.map(([field, constraint, message]) => ({ field, message, constraint }))
      )
    }
  })

  it("are tried here for every bounded field of these resources", () => {
    const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
    const resolved = ({ $ref, anyOf, ...schema }: JsonSchema): JsonSchema =>
      $ref === undefined ? (anyOf?.[0] ?? schema) : (schemas[$ref.split("/").at(-1) ?? ""] ?? {})
    const bounded = operationsOf(service.document).flatMap(({ body = {}, method, path }) => {
      const [kind = ""] = path.replace("/api/v1/", "").split("/", 1)
      return Object.entries(resolved(body).properties ?? {}).flatMap(([field, property]) => {
        const { maximum, maxLength } = resolved(property)
        const isTried = kind === "assets" || existing.has(kind as ResourceKind)
        return isTried && (maxLength ?? maximum) !== undefined ? [`${method} ${kind} ${field}`] : []
      })
    })
    assert.sameMembers(bounded, [
      ...limits.flatMap(({ field, kind }) => [`POST ${kind} ${field}`, `PATCH ${kind} ${field}`]),
      ...["POST assets originalFileName", "POST assets sizeBytes", "PATCH assets originalFileName"],
      ...["PUT clients order", "PUT tenants order"]
    ])
  })
})
