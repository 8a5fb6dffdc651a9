import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const states = ["DRAFT", "ACTIVE", "ENDED"] as const
type State = (typeof states)[number]

/** The transitions that lead to a state, and those allowed from it. */
interface StateRules {
  readonly path: ReadonlyArray<State>
  readonly to: ReadonlyArray<State>
  /** What the error of another transition says. */
  readonly rule: string
}

const lifecycle: Readonly<Record<State, StateRules>> = {
  DRAFT: { path: [], to: ["DRAFT", "ACTIVE"], rule: "can only change to ACTIVE" },
  ACTIVE: { path: ["ACTIVE"], to: ["ACTIVE", "ENDED"], rule: "can only change to ENDED" },
  ENDED: { path: ["ACTIVE", "ENDED"], to: ["ENDED"], rule: "is final" }
}

const invalidTimestamp = "must be a date and time in UTC such as 2026-11-14T09:30:00Z"
const invalidCurrency: ExpectedError = ["currencyCode", "currency", "must be an ISO 4217 currency code such as EUR"]
const endsTooEarly: ExpectedError = ["endsAt", "min", "must be after startsAt"]

const day = (number: number) => `2026-03-${String(number).padStart(2, "0")}T00:00:00.000Z`

describe("Contracts", () => {
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let clientId: string
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    tenant = await service.newTenant()
    clientId = (await resourceMaker(service, tenant).make("clients")).id
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const create = (fields: object = {}) =>
    service.api("POST", "/contracts", {
      as: "owner",
      tenant,
      body: { clientId, name: "Pumps", currencyCode: "EUR", ...fields }
    })
  const make = async (fields: object = {}) => {
    const { body, status, text } = await create(fields)
    assert.strictEqual(status, 201, text)
    return String(body.data.id)
  }
  const change = (id: string, body: object) => service.api("PATCH", `/contracts/${id}`, { as: "owner", tenant, body })
  const read = async (id: string) => (await service.api("GET", `/contracts/${id}`, { as: "owner", tenant })).body.data

  describe("with a status", () => {
    const makeIn = async (state: State) => {
      const id = await make()
      for (const status of lifecycle[state].path) assert.strictEqual((await change(id, { status })).status, 200)
      assert.strictEqual((await read(id)).status, state)
      return id
    }

    for (const from of states) {
      for (const to of states) {
        const isAllowed = lifecycle[from].to.includes(to)
        it(`${isAllowed ? "can" : "cannot"} change from ${from} to ${to}`, async () => {
          const id = await makeIn(from)
          const response = await change(id, { status: to, name: "Renamed" })
          if (isAllowed) assert.deepInclude(response.body.data, { id, status: to, name: "Renamed" })
          else
            assertValidationError(response, [
              "status",
              "state",
              `cannot change from ${from} to ${to}: ${from} ${lifecycle[from].rule}`
            ])
          assert.deepInclude(
            await read(id),
            isAllowed ? { status: to, name: "Renamed" } : { status: from, name: "Pumps" }
          )
        })
      }

      it(`of ${from} can be renamed`, async () => {
        const id = await makeIn(from)
        const { body } = await change(id, { name: "Renamed" })
        assert.deepInclude(body.data, { status: from, name: "Renamed" })
      })
    }

    it("reject an unknown status", async () => {
      const id = await make()
      for (const status of ["", "draft", "OPEN", "VOID"]) {
        assertValidationError(await change(id, { status }), ["status", "enum", "must be one of DRAFT, ACTIVE, ENDED"])
        assertValidationError(await create({ status }), ["status", "enum", "must be one of DRAFT, ACTIVE"])
      }
    })

    it("never return to an earlier status under concurrent changes", async () => {
      const id = await makeIn("ACTIVE")
      const responses = await Promise.all(
        Array.from({ length: 10 }, (_, n) => change(id, { status: n % 2 === 0 ? "ENDED" : "DRAFT" }))
      )
      const statuses = responses.map(({ status }) => status)
      assert.deepStrictEqual(
        statuses,
        statuses.map((_, n) => (n % 2 === 0 ? 200 : 400))
      )
      assert.strictEqual((await read(id)).status, "ENDED")
    })
  })

  it("are DRAFT with a payment term of 30 days by default", async () => {
    const { body } = await create()
    const { createdAt, id, updatedAt, ...rest } = body.data
    assert.match(id, /^ctr_[0-9a-z]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(rest, {
      client: clientId,
      name: "Pumps",
      status: "DRAFT",
      currencyCode: "EUR",
      paymentTermDays: 30
    })
    assert.deepStrictEqual(await read(id), body.data)
  })

  it("can be created as ACTIVE with every optional field", async () => {
    const terms = {
      description: "Valves as well",
      status: "ACTIVE",
      currencyCode: "JPY",
      startsAt: day(1),
      endsAt: day(2),
      paymentTermDays: 0,
      capMinor: 1_000_000,
      order: 3
    }
    const { body, status } = await create(terms)
    assert.strictEqual(status, 201)
    assert.deepInclude(body.data, terms)
    assert.deepStrictEqual(await read(body.data.id), body.data)
  })

  it("cannot be created as ENDED", async () => {
    assertValidationError(await create({ status: "ENDED" }), ["status", "enum", "must be one of DRAFT, ACTIVE"])
  })

  it("cannot change their client", async () => {
    const id = await make()
    const other = (await resourceMaker(service, tenant).make("clients")).id
    for (const field of ["client", "clientId"]) {
      assertValidationError(await change(id, { [field]: other }), [field, "unknown", "is not a known property"])
    }
    assert.strictEqual((await read(id)).client, clientId)
  })

  describe("with a start and an end", () => {
    it.each([
      [10, 10],
      [10, 9]
    ])("cannot be created from day %i to day %i", async (from, to) => {
      assertValidationError(await create({ startsAt: day(from), endsAt: day(to) }), endsTooEarly)
    })

    it("are validated with timestamps rounded down to the millisecond", async () => {
      const nextMillisecond = "2026-03-10T00:00:00.001Z"
      assert.strictEqual((await create({ startsAt: day(10), endsAt: nextMillisecond })).status, 201)
      assertValidationError(await create({ startsAt: nextMillisecond, endsAt: day(10) }), endsTooEarly)
      assertValidationError(await create({ startsAt: day(10), endsAt: "2026-03-10T00:00:00.000999Z" }), endsTooEarly)
    })

    const period = { startsAt: day(10), endsAt: day(20) }
    const readPeriod = async (id: string) => {
      const { endsAt, startsAt } = await read(id)
      return JSON.parse(JSON.stringify({ startsAt, endsAt }))
    }

    it.each<[before: object, change: object, after: object]>([
      [period, { endsAt: day(11) }, { startsAt: day(10), endsAt: day(11) }],
      [period, { startsAt: day(19) }, { startsAt: day(19), endsAt: day(20) }],
      [period, { startsAt: day(25), endsAt: day(26) }, { startsAt: day(25), endsAt: day(26) }],
      [period, { startsAt: null }, { endsAt: day(20) }],
      [period, { endsAt: null }, { startsAt: day(10) }],
      [period, { startsAt: null, endsAt: null }, {}],
      [period, { startsAt: null, endsAt: day(1) }, { endsAt: day(1) }],
      [period, { startsAt: day(30), endsAt: null }, { startsAt: day(30) }],
      [{ startsAt: day(10) }, { endsAt: day(11) }, { startsAt: day(10), endsAt: day(11) }],
      [{ endsAt: day(20) }, { startsAt: day(19) }, { startsAt: day(19), endsAt: day(20) }]
    ])("of %j can be changed by %j to %j", async (before, changes, after) => {
      const id = await make(before)
      const response = await change(id, changes)
      assert.strictEqual(response.status, 200, response.text)
      assert.deepStrictEqual(await readPeriod(id), after)
    })

    it.each<[before: object, change: object]>([
      [period, { endsAt: day(10) }],
      [period, { endsAt: day(9) }],
      [period, { startsAt: day(20) }],
      [period, { startsAt: day(21) }],
      [period, { startsAt: day(26), endsAt: day(25) }],
      [{ startsAt: day(10) }, { endsAt: day(10) }],
      [{ endsAt: day(20) }, { startsAt: day(20) }]
    ])("of %j reject the change %j", async (before, changes) => {
      const id = await make(before)
      assertValidationError(await change(id, changes), endsTooEarly)
      assert.deepStrictEqual(await readPeriod(id), before)
    })

    it("report every error at once", async () => {
      const id = await make({ ...period, status: "ACTIVE" })
      assertValidationError(
        await change(id, { status: "DRAFT", endsAt: day(1) }),
        ["status", "state", "cannot change from ACTIVE to DRAFT: ACTIVE can only change to ENDED"],
        endsTooEarly
      )
    })

    it("stay in order when two changes conflict that are valid alone", async () => {
      for (let round = 0; round < 3; round++) {
        const id = await make(period)
        const lock = await lockRow(
          pool,
          "select 1 from contracts where tenant_id = $1 and id = $2 for update",
          tenant,
          id
        )
        const pending = Promise.all([change(id, { startsAt: day(18) }), change(id, { endsAt: day(15) })])
        try {
          await lock.untilWaiting(2)
        } finally {
          await lock.release()
        }
        const responses = await pending
        assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [200, 400])
        for (const response of responses) if (response.status === 400) assertValidationError(response, endsTooEarly)
        const { endsAt, startsAt } = await read(id)
        assert.isTrue(endsAt > startsAt, `${startsAt} to ${endsAt}`)
      }
    })

    it("stay in order under many concurrent changes of both dates", async () => {
      const id = await make(period)
      const responses = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          change(id, n % 2 === 0 ? { startsAt: day(n + 1) } : { endsAt: day(n + 1) })
        )
      )
      for (const response of responses) if (response.status !== 200) assertValidationError(response, endsTooEarly)
      const { endsAt, startsAt } = await read(id)
      assert.isTrue(endsAt > startsAt, `${startsAt} to ${endsAt}`)
    })
  })

  describe("with timestamps", () => {
    it.each([
      ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"],
      ["2026-01-31T09:30:00.1Z", "2026-01-31T09:30:00.100Z"],
      ["2026-01-31T09:30:00.12Z", "2026-01-31T09:30:00.120Z"],
      ["2026-01-31T09:30:00.123Z", "2026-01-31T09:30:00.123Z"],
      ["2026-01-31T09:30:00.123456Z", "2026-01-31T09:30:00.123Z"],
      ["2026-01-31T09:30:00.999999999Z", "2026-01-31T09:30:00.999Z"],
      ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
      ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
      ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
      ["0099-06-01T00:00:00Z", "0099-06-01T00:00:00.000Z"],
      ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
    ])("accept %s and return it as %s", async (given, expected) => {
      for (const field of ["startsAt", "endsAt"]) {
        const created = await create({ [field]: given })
        assert.strictEqual(created.status, 201, created.text)
        assert.strictEqual(created.body.data[field], expected)
        assert.strictEqual((await read(created.body.data.id))[field], expected)
        const id = await make({ [field]: day(1) })
        assert.strictEqual((await change(id, { [field]: given })).body.data[field], expected)
        assert.strictEqual((await read(id))[field], expected)
      }
    })

    it.each([
      "2026-01-31T09:30:00+01:00",
      "2026-01-31T09:30:00+00:00",
      "2026-01-31T09:30:00-00:00",
      "2026-01-31T09:30:00",
      "2026-01-31T09:30Z",
      "2026-01-31T09Z",
      "2026-01-31",
      "2026-01",
      "2026-01-31 09:30:00Z",
      "2026-01-31t09:30:00z",
      "2026-02-30T00:00:00Z",
      "2026-02-29T00:00:00Z",
      "2026-04-31T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z",
      "2026-01-00T00:00:00Z",
      "2026-01-32T00:00:00Z",
      "2026-01-31T24:00:00Z",
      "2026-01-31T25:00:00Z",
      "2026-01-31T23:60:00Z",
      "2026-01-31T23:59:60Z",
      "2026-01-31T09:30:00.Z",
      "2026-01-31T09:30:00,5Z",
      "2026-01-31T09:30:00.1234567890Z",
      "0000-01-01T00:00:00Z",
      "+002026-01-31T00:00:00Z",
      "-002026-01-31T00:00:00Z",
      "12026-01-31T00:00:00Z",
      "26-01-31T00:00:00Z",
      " 2026-01-31T09:30:00Z",
      "2026-01-31T09:30:00Z ",
      "2026-01-31T09:30:00Z\n",
      "2026-W05-6T09:30:00Z",
      "Sat, 31 Jan 2026 09:30:00 GMT",
      "1769851800",
      "now",
      "infinity",
      ""
    ])("reject %j", async (given) => {
      const errors: ReadonlyArray<ExpectedError> = [
        ["startsAt", "format", invalidTimestamp],
        ["endsAt", "format", invalidTimestamp]
      ]
      assertValidationError(await create({ startsAt: given, endsAt: given }), ...errors)
      assertValidationError(await change(await make(), { startsAt: given, endsAt: given }), ...errors)
    })

    it.each([0, 1769851800000, true, {}, []])("reject %j, which is not a string", async (given) => {
      const error: ExpectedError = ["startsAt", "type", "must be a string"]
      assertValidationError(await create({ startsAt: given }), error)
      assertValidationError(await change(await make(), { startsAt: given }), error)
    })
  })

  describe("with a currencyCode", () => {
    const validCodes = "EUR USD GBP CHF JPY KRW KWD BHD CLF SLE VED ZWG XAF XOF XPF XCD XCG".split(" ")
    it.each(validCodes)("accept %s", async (currencyCode) => {
      const { body, status } = await create({ currencyCode })
      assert.deepStrictEqual([status, body.data.currencyCode], [201, currencyCode])
      const changed = await change(await make(), { currencyCode })
      assert.deepStrictEqual([changed.status, changed.body.data.currencyCode], [200, currencyCode])
    })

    const invalidCodes = ["eur", "Eur", "EU", "EURO", " EUR", "EUR ", "€", "978", "ZZZ", "DEM", "FRF", "HRK", "BTC", ""]
    const metalsAndUnits = ["XAU", "XAG", "XPT", "XPD", "XDR", "XSU", "XUA", "XBA", "XBB", "XBC", "XBD", "XTS", "XXX"]
    it.each([...invalidCodes, ...metalsAndUnits, "constructor", "__proto__"])("reject %j", async (currencyCode) => {
      assertValidationError(await create({ currencyCode }), invalidCurrency)
      assertValidationError(await change(await make(), { currencyCode }), invalidCurrency)
    })
  })
})
