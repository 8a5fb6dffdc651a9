import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertInvalid, type Fault } from "../support/failure.ts"
import { type JsonSchema, operationsOf } from "../support/operations.ts"
import { type Kind, makerIn } from "../support/resources.ts"
import { type Service, startService } from "../support/service.ts"

type Bounds = Readonly<Record<string, readonly [least: number, most: number]>>

/** The fewest and the most characters of every text. */
const texts: Partial<Record<Kind, Bounds>> = {
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
const numbers: Partial<Record<Kind, Bounds>> = {
  clients: { order: [0, 9007199254740991] },
  addresses: { order: [0, 9007199254740991] },
  contacts: { order: [0, 9007199254740991] },
  emails: { order: [0, 9007199254740991] },
  contracts: { order: [0, 9007199254740991], paymentTermDays: [0, 365], capMinor: [0, 9007199254740991] },
  projects: { order: [0, 9007199254740991] }
}

const wide = "\u{1F600}"
const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

const tooShort = (field: string, least: number): Fault => [
  field,
  "minLength",
  `must have at least ${characters(least)}`
]
const tooLong = (field: string, most: number): Fault => [field, "maxLength", `must have at most ${characters(most)}`]
const tooSmall = (field: string, least: number): Fault => [field, "min", `must be at least ${least}`]
const tooGreat = (field: string, most: number): Fault => [field, "max", `must be at most ${most}`]

/** An email address of so many characters. */
const address = (length: number, letter = "a") => {
  const domain = "@example.test"
  return letter.repeat(length - domain.length) + domain
}

interface Limit {
  readonly kind: Kind
  readonly field: string
  readonly right: ReadonlyArray<unknown>
  readonly wrong: ReadonlyArray<readonly [value: unknown, fault: Fault]>
}

const eachOf = (table: Partial<Record<Kind, Bounds>>) =>
  Object.entries(table).flatMap(([kind, bounds]) =>
    Object.entries(bounds).map(([field, [least, most]]) => ({ kind: kind as Kind, field, least, most }))
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
  const existing = new Map<Kind, { readonly path: string; readonly body: object }>()
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
    const { bodyOf, make } = makerIn(service, tenant)
    for (const kind of new Set(limits.map(({ kind }) => kind))) {
      const body = await bodyOf(kind)
      existing.set(kind, { path: `/${kind}/${(await make(kind, body)).id}`, body })
    }
  })
  afterAll(() => service.stop())

  const call = (method: string, path: string, body?: unknown) =>
    service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
  const of = (kind: Kind) => existing.get(kind) ?? assert.fail(kind)

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
        assertInvalid(await call("POST", `/${kind}`, { ...body, [field]: value }), fault)
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
        for (const [other, fault] of wrong) assertInvalid(await call("PATCH", path, { [field]: other }), fault)
        assert.deepStrictEqual((await call("GET", path)).body, read.body, "is left alone by what was refused")
      }
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
        return existing.has(kind as Kind) && (maxLength ?? maximum) !== undefined ? [`${method} ${kind} ${field}`] : []
      })
    })
    assert.sameMembers(
      bounded,
      limits.flatMap(({ field, kind }) => [`POST ${kind} ${field}`, `PATCH ${kind} ${field}`])
    )
  })
})
