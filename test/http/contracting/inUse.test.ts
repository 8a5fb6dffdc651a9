import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { namesOf } from "../../../src/layers/infra/postgres/repository/InUseErrors.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { operationsOf } from "../../support/assertions/operations.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

/** Resources that others keep from being deleted, by the column that references them. */
const parents = { clients: "client_id", contacts: "contact_id", contracts: "contract_id", assets: "asset_id" }

/** What the description of the deletion calls a user, if not by its plural. */
const documentedNames: Readonly<Record<string, string>> = { attachments: "attached" }

interface ForeignKey {
  readonly parent: keyof typeof parents
  readonly child: string
  readonly columns: ReadonlyArray<string>
}

describe("A resource that others use", () => {
  let service: Service
  let pool: pg.Pool
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  it.each([
    [2, "2 contacts"],
    [100, "100 contacts"],
    [101, "more than 100 contacts"],
    [300, "more than 100 contacts"]
  ])("used by %i others cannot be deleted, and the error names %s", async (count, users) => {
    const tenant = await service.newTenant()
    const { id } = await resourceMaker(service, tenant).make("clients")
    await pool.query(
      `insert into contacts (tenant_id, id, client_id, name, created_at, updated_at, sequence)
       select $1, 'con_' || n, $2, 'Contact', now(), now(), 1 from generate_series(1, $3::int) n`,
      [tenant, id, count]
    )
    const response = await service.api("DELETE", `/clients/${id}`, { as: "owner", tenant })
    assertValidationError(response, ["id", "inUse", `is still used by ${users}`])
  })

  const readForeignKeys = async () => {
    const { rows } = await pool.query<ForeignKey>(
      `select confrelid::regclass::text as parent, conrelid::regclass::text as child,
         array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey)) as columns
       from pg_constraint where contype = 'f' and confdeltype = 'a' and confrelid::regclass::text = any ($1)`,
      [Object.keys(parents)]
    )
    return rows
  }

  it("is named in the error by the resource that uses it, never by a table", async () => {
    const rows = await readForeignKeys()
    for (const { child, columns, parent } of rows) assert.include(columns, parents[parent], `${child} → ${parent}`)
    assert.deepStrictEqual(namesOf("addresses"), ["address", "addresses"])
    assert.deepStrictEqual(namesOf("credit_notes"), ["credit note", "credit notes"])
    assert.deepStrictEqual(namesOf("attachments"), ["media slot", "media slots"])
  })

  it("has a description of its deletion that names all of them", async () => {
    const operations = operationsOf(service.document).filter(({ method }) => method === "DELETE")
    for (const { child, parent } of await readForeignKeys()) {
      const { description = "" } = operations.find(({ path }) => path.startsWith(`/api/v1/${parent}/{`)) ?? {}
      assert.include(description, documentedNames[child] ?? namesOf(child)[1], `${parent}: ${description}`)
    }
  })
})
