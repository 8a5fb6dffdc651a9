import { Schema } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { Client } from "../../../../../src/domain/contracting/Client.ts"
import { eventFields } from "../../../../../src/domain/events/Event.ts"
import { languages } from "../../../../../src/domain/locale/Language.ts"
import { columnOf } from "../../../../../src/layers/infra/postgres/repository/Columns.ts"
import { buildJsonSql } from "../../../../../src/layers/infra/postgres/repository/JsonSql.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../../../support/servers/serviceWithPool.ts"

const shape = { table: "clients", fields: Client.fields }

const text = (maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit: "binary", maxLength }),
      fc.string({ unit: fc.constantFrom(...'"\\/\b\f\n\r\t\u0001\u001f\u007f\u0080\u2028\u2029\u{1F600}é'), maxLength })
    )
    .filter((value) => !value.includes("\u0000") && value.isWellFormed())

const timestamp = fc
  .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString())

const client = fc.record(
  {
    id: fc.stringMatching(/^clnt_[a-z0-9]{1,64}$/),
    name: text(40),
    description: text(40),
    language: fc.constantFrom(...languages),
    order: fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
    media: fc.array(fc.record({ slot: text(5), order: fc.nat() }), { maxLength: 2 }),
    createdAt: timestamp,
    updatedAt: timestamp
  },
  { requiredKeys: ["id", "name", "media", "createdAt", "updatedAt"], noNullPrototype: true }
)

describe("buildJsonSql", () => {
  const at = useFixture(() => startServiceWithPool({}))

  it("produces the output of JSON.stringify for any texts, numbers and timestamps", async () => {
    const clients = fc.sample(client, { numRuns: 2000, seed: 11 })
    const connection = await at().pool.connect()
    await connection.query("set timezone = 'UTC'")
    const { rows } = await connection.query<{ json: string }>(
      `select ${buildJsonSql(shape.fields, (field) => `this."${field}"`)} as json
       from json_to_recordset($1) as this (id text, name text, description text, language text, "order" bigint, media json,
         "createdAt" timestamptz(3), "updatedAt" timestamptz(3))`,
      [JSON.stringify(clients)]
    )
    connection.release()
    const names = Object.keys(Client.fields)
    assert.deepStrictEqual(
      rows.map(({ json }) => json),
      clients.map((one) => JSON.stringify(one, ["slot", ...names]))
    )
  })

  it("is never null because columns of required fields are not nullable", async () => {
    const findNullableColumns = async (table: string) => {
      const { rows } = await at().pool.query<{ name: string }>(
        "select column_name as name from information_schema.columns where table_name = $1 and is_nullable = 'YES'",
        [table]
      )
      return new Set(rows.map(({ name }) => name))
    }
    const nullableInClients = await findNullableColumns("clients")
    for (const [name, field] of Object.entries(Client.fields)) {
      assert.strictEqual(nullableInClients.has(columnOf(shape, name)), !Schema.isSchema(field), name)
    }
    const optional = Object.entries(eventFields).filter(([, field]) => !Schema.isSchema(field))
    assert.deepStrictEqual(
      optional.map(([name]) => name),
      ["client", "createdBy"]
    )
    for (const column of ["id", "type", "occurred_at", "tenant_id", "sequence", "data"]) {
      assert.isFalse((await findNullableColumns("events")).has(column), column)
    }
  })

  it("rejects field types that PostgreSQL formats differently", () => {
    assert.throws(() => buildJsonSql({ quantity: Schema.Number }, (field) => field), "Field quantity")
  })
})
