import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Api } from "../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../src/http/api/OpenApi.ts"
import { assertFailure, assertValidationError, notFoundText } from "../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../support/assertions/operations.ts"
import { assetClient } from "../support/fixtures/assets.ts"
import { assignFeedPositions } from "../support/fixtures/integrationRows.ts"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { prefixOf } from "../support/fixtures/minimalBodies.ts"
import { makeTenantFixture, type TenantFixture } from "../support/fixtures/tenantFixture.ts"
import { openPool } from "../support/servers/database.ts"
import { type Service, startService } from "../support/servers/service.ts"

const document = makeOpenApiDocument(Api)

const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})

const references = operationsOf(document).flatMap((operation) =>
  Object.entries(resolved(operation.body ?? {}).properties ?? {}).flatMap(([field, property]) => {
    const prefix = [property, ...(property.anyOf ?? [])].map((schema) => prefixOf(resolved(schema))).find(Boolean)
    return prefix === undefined ? [] : [{ operation, field, prefix }]
  })
)

interface ForeignKey {
  readonly name: string
  readonly child: string
  readonly parent: string
  readonly columns: ReadonlyArray<string>
  readonly parentColumns: ReadonlyArray<string>
}

/** Every foreign key between two tables with a tenant_id. */
const foreignKeys = `
  with owned as (
    select attrelid from pg_attribute
    join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
    where attname = 'tenant_id'
  ), named as (
    select pg_constraint.oid as constraint_id, position, a.attname::text as column, b.attname::text as parent_column
    from pg_constraint, unnest(conkey, confkey) with ordinality as keys (child, parent, position)
    join pg_attribute a on true join pg_attribute b on true
    where a.attrelid = conrelid and a.attnum = child and b.attrelid = confrelid and b.attnum = parent
  )
  select conname as name, conrelid::regclass::text as child, confrelid::regclass::text as parent,
    array_agg(named.column order by position) as columns,
    array_agg(parent_column order by position) as "parentColumns"
  from pg_constraint join named on constraint_id = pg_constraint.oid
  where contype = 'f' and conrelid in (select attrelid from owned) and confrelid in (select attrelid from owned)
  group by conname, conrelid, confrelid order by conname`

/** References to the parent of a new resource: an unknown parent is a 404, any other unknown reference a 400. */
const parents = new Set([
  "POST /api/v1/addresses clientId",
  "POST /api/v1/contacts clientId",
  "POST /api/v1/emails contactId",
  "POST /api/v1/contracts clientId",
  "POST /api/v1/projects contractId",
  "POST /api/v1/invoices contractId",
  "POST /api/v1/billables invoiceId",
  "POST /api/v1/payments clientId",
  "POST /api/v1/credit-notes invoiceId"
])

/** The identifiers of migrations. */
const migrationIds = ["migrations.migration_id"]

/** Identifiers of external systems, and free identifiers of callers. */
const externalIds = [
  "billables.reference_id",
  "delivery_files.file_id",
  "invoice_mails.message_id",
  "grants.site_id",
  "inbound_webhooks.issue_id",
  "payments.external_id",
  "tracked_issues.external_id",
  "tracker_webhooks.site_id",
  "tracker_webhooks.webhook_id"
]

/** Identifiers in events, deliveries and proofs of mails and uploads, which outlive their resource. */
const outlivingIds = [
  "deliveries.resource_id",
  "event_feed.resource_id",
  "events.client_id",
  "events.resource_id",
  "invoice_mails.credit_note_id",
  "invoice_mails.delivery_id",
  "invoice_mails.event_id",
  "invoice_mails.integration_id",
  "invoice_mails.invoice_id",
  "invoice_uploads.delivery_id",
  "invoice_uploads.integration_id",
  "invoice_uploads.invoice_id",
  "outbox.resource_id"
]

/** Identifiers that only a trigger, or the statement that changes the referenced row, writes. */
const copiedIds = [
  "outbox.event_id",
  "invoice_file_queue.invoice_id",
  "invoices.client_id",
  "journal_entries.client_id"
]

/** Cursors, which reference no row. */
const cursors = ["redeliveries.after_id", "redeliveries.last_id"]

describe("References between resources", () => {
  let service: Service
  let pool: pg.Pool
  let theirs: TenantFixture
  let ours: TenantFixture
  let keys: ReadonlyArray<ForeignKey>
  beforeAll(async () => {
    service = await startService({})
    pool = openPool(service.database.url)
    ;[theirs, ours] = await Promise.all([createFixture("their-owner"), createFixture("our-owner")])
    keys = (await pool.query<ForeignKey>(foreignKeys)).rows
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  /** Inserts one row per tenant into the outbox, the feed, the deliveries and their tables. */
  const insertDeliveries = async ({ idOf, tenant }: TenantFixture) => {
    await assignFeedPositions(pool, tenant)
    for (const statement of [
      `delete from event_feed where tenant_id = $1 and event_id <> $2`,
      `insert into outbox (tenant_id, event_id, resource_id, sequence)
       select tenant_id, id, resource_id, sequence from events where tenant_id = $1 and id = $2`,
      `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
         next_attempt_at, created_at, updated_at)
       select tenant_id, 'dlv_' || id, resource_id, id, type, resource_id, sequence, 'PENDING', now(), now(), now()
       from events where tenant_id = $1 and id = $2`,
      `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
       values ($1, 'dlv_' || $2, 1, now(), 'FAILED')`,
      `insert into redeliveries (tenant_id, id, integration_id, since, until, after_id, last_id, count, created_at, due_at)
       select tenant_id, 'rdl_' || id, resource_id, now(), now(), '', '', 0, now(), now()
       from events where tenant_id = $1 and id = $2`
    ]) {
      await pool.query(statement, [tenant, idOf("evt")])
    }
  }

  /**
   * A tenant with one of every resource, a client with a logo, a finalized invoice with that logo, and an integration
   * with a subscription for the client.
   */
  const createFixture = async (owner: string) => {
    const fixture = await makeTenantFixture(service, owner)
    const send = async (method: string, path: string, body?: object) => {
      const { status, text } = await service.api(method, path, {
        as: owner,
        tenant: fixture.tenant,
        ...(body === undefined ? {} : { body })
      })
      assert.strictEqual(status, 200, text)
    }
    const { assetId } = await assetClient(service, fixture.tenant, owner).createReady()
    await send("PUT", `/clients/${fixture.idOf("clnt")}/media/logo`, { assetId })
    await send("POST", `/invoices/${fixture.idOf("inv")}/finalize`)
    await send("GET", `/invoices/${fixture.idOf("inv")}/pdf`)
    await send("GET", `/credit-notes/${fixture.idOf("crn")}/pdf`)
    await integrationClient(service, fixture.tenant, owner).mustSubscribe(fixture.idOf("int"), {
      eventType: "client.*",
      clientId: fixture.idOf("clnt")
    })
    return fixture
  }

  it("appear in the OpenAPI document", () => {
    assert.includeMembers(
      references.map(({ field, operation }) => `${operation.name} ${field}`),
      [...parents, "POST /api/v1/integrations/{integrationId}/subscriptions clientId"]
    )
  })

  it("to a parent have a 404 in the OpenAPI document", () => {
    for (const { field, operation } of references) {
      if (!parents.has(`${operation.name} ${field}`)) continue
      assert.property(document.paths[operation.path]?.["post"]?.responses, "404", operation.name)
    }
  })

  for (const { field, operation, prefix } of references) {
    it(`by ${field} of ${operation.name} reject a foreign id like an unknown id`, async () => {
      const { body } = ours.bodyOf(operation, { everyReference: true })
      const send = (id: string) =>
        service.call(operation.method, ours.addressIn(operation), {
          as: ours.owner,
          tenant: ours.tenant,
          body: { ...Object(body), [field]: id }
        })
      const foreign = await send(theirs.idOf(prefix))
      const unknown = await send(`${prefix}_${"0".repeat(26)}`)
      for (const response of [foreign, unknown]) {
        if (parents.has(`${operation.name} ${field}`)) assertFailure(response, 404, notFoundText)
        else assertValidationError(response, [field, "exists", "does not exist in this tenant"])
      }
      const own = await send(ours.idOf(prefix))
      // An existing resource may be in a state that allows no reference.
      assert.notInclude(own.text, `"exists"`)
      assert.isTrue(own.status < 300 || own.body.details[0].constraint === "state", own.text)
    })
  }

  it("include the tenant on both sides of every foreign key", () => {
    assert.isAtLeast(keys.length, 5)
    for (const { columns, name, parentColumns } of keys) {
      const index = columns.indexOf("tenant_id")
      assert.isAtLeast(index, 0, name)
      assert.strictEqual(parentColumns[index], "tenant_id", name)
    }
  })

  it("into another tenant violate a foreign key on insert and on update", async () => {
    for (const fixture of [theirs, ours]) await insertDeliveries(fixture)
    // A key of the tenant_id alone cannot reference another tenant.
    for (const { child, columns, name, parent, parentColumns } of keys.filter(({ columns }) => columns.length > 1)) {
      const client = await pool.connect()
      const tryWrite = async (statement: string, values: ReadonlyArray<unknown>) => {
        // Triggers that guard changes would fail first; foreign keys stay enabled.
        await client.query(`begin; alter table ${child} disable trigger user`)
        try {
          return await client.query(statement, [...values]).then(
            ({ rowCount }) => rowCount,
            (error: pg.DatabaseError) => [error.code, error.constraint]
          )
        } finally {
          await client.query("rollback")
        }
      }
      const referenceTo = async (tenant: string) => {
        const { rows } = await client.query(`select * from ${parent} where tenant_id = $1 limit 1`, [tenant])
        const pairs = columns.map((column, at) => [column, rows[0]?.[parentColumns[at] ?? ""]] as const)
        return Object.fromEntries(pairs.filter(([column]) => column !== "tenant_id"))
      }
      // A row that has the reference already: one with another may have to do without it.
      const column = columns.find((name) => name !== "tenant_id")
      const one = `(select ctid from ${child} where tenant_id = $1 order by ${column} limit 1)`
      const row = `select created.* from ${child} known, jsonb_populate_record(known, $2::jsonb) created
        where known.ctid = ${one}`
      const insert = (reference: object) =>
        tryWrite(`insert into ${child} overriding system value ${row}`, [
          ours.tenant,
          JSON.stringify({ ...reference, id: child === "journal_entries" ? 0 : "new" })
        ])
      const update = (reference: object) => {
        const sets = Object.keys(reference).map((column, at) => `${column} = $${at + 2}`)
        return tryWrite(`update ${child} set ${sets} where ctid = ${one}`, [ours.tenant, ...Object.values(reference)])
      }
      try {
        const [ourReference, theirReference] = [await referenceTo(ours.tenant), await referenceTo(theirs.tenant)]
        // Where two keys reference the same table, either may fail first.
        const violated = keys.filter((key) => key.child === child && key.parent === parent).map(({ name }) => name)
        // A unique reference may exist already.
        assert.include([1, "23505"], [await update(ourReference)].flat()[0], name)
        const [code, constraint] = [await update(theirReference)].flat()
        assert.strictEqual(code, "23503", name)
        assert.include(violated, constraint)
        // A copy of a row may violate a unique constraint.
        const [ourCode] = [await insert(ourReference)].flat()
        assert.include([1, "23505"], ourCode, name)
        const [theirCode] = [await insert(theirReference)].flat()
        assert.include(ourCode === 1 ? ["23503"] : ["23503", "23505"], theirCode, name)
      } finally {
        client.release()
      }
    }
  })

  it("have a foreign key each, except the listed columns", async () => {
    const { rows } = await pool.query<{ place: string }>(`
      select table_name || '.' || column_name as place from information_schema.columns
      where table_schema = current_schema() and column_name like '%\\_id' and column_name <> 'tenant_id'`)
    const places = new Set(keys.flatMap(({ child, columns }) => columns.map((column) => `${child}.${column}`)))
    assert.sameMembers(
      rows.map(({ place }) => place).filter((place) => !places.has(place)),
      [...migrationIds, ...externalIds, ...outlivingIds, ...copiedIds, ...cursors]
    )
  })
})
