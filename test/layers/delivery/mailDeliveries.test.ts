import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { MailOutcome } from "../../../src/domain/mails/Mail.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { makeMailProofs } from "../../../src/layers/delivery/MailProofs.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { type MailFixture, makeMailFixture } from "../../support/fixtures/mails.ts"
import { openPool } from "../../support/servers/database.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("The fan-out to an EMAIL integration", () => {
  let database: DeliveryDatabase
  beforeAll(async () => {
    database = await openDeliveryDatabase()
  })
  afterAll(() => database.close())

  it("inserts one delivery for each address, also in several steps", async () => {
    const tenant = await database.newTenant()
    const [mail, hook] = [
      await database.newIntegration(tenant, { provider: "EMAIL" }),
      await database.newIntegration(tenant)
    ]
    await database.newIntegration(tenant, { provider: "JIRA" })
    const client = makeId("clnt")
    await database.sql.query(
      "insert into clients (tenant_id, id, name, media, created_at, updated_at, sequence) values ($1, $2, 'C', '[]', now(), now(), 1)",
      [tenant, client]
    )
    for (const [n, receives] of [true, true, false, true, true, null].entries()) {
      const contact = makeId("con")
      await database.sql.query(
        "insert into contacts (tenant_id, id, client_id, name, receives_invoices, created_at, updated_at, sequence) values ($1, $2, $3, 'C', $4, now(), now(), 1)",
        [tenant, contact, client, receives]
      )
      await database.sql.query(
        "insert into emails (tenant_id, id, contact_id, address, created_at, updated_at, sequence) values ($1, $2, $3, $4, now(), now(), 1)",
        [tenant, makeId("eml"), contact, `a${n % 4}@client.example`]
      )
    }
    const own = await database.newIntegration(tenant, { provider: "EMAIL" })
    await database.sql.query(`update integrations set config = '{"host":"mail.example.com"}' where id = $1`, [own])
    const event = await database.newEvent(tenant, client, 1)
    await database.sql.query("update events set client_id = $1, created_by = 'ada' where id = $2", [client, event])
    await database.run(database.outbox.assignPositions("test", 100, ""))
    let steps = 0
    for (let isDone = false; !isDone; steps++) {
      const limits = { maxEvents: 10, maxDeliveries: 2 }
      isDone = (await database.run(database.fanOut.fanOut([{ tenant, id: event }], limits))).done.has(event)
    }
    assert.isAbove(steps, 1)
    const { rows } = await database.sql.query(
      `select integration_id as integration, recipient, status, shared_mail_by as by from deliveries where tenant_id = $1
       order by integration_id, recipient`,
      [tenant]
    )
    const mailsOf = (integration: string, by: string | null) =>
      ["a0", "a1", "a3"].map((name) => ({ integration, recipient: `${name}@client.example`, status: "PENDING", by }))
    assert.sameDeepMembers(rows, [
      ...mailsOf(mail, "ada"),
      ...mailsOf(own, null),
      { integration: hook, recipient: null, status: "PENDING", by: null }
    ])

    const ofService = await database.newEvent(tenant, client, 2)
    await database.sql.query("update events set client_id = $1 where id = $2", [client, ofService])
    await database.run(database.outbox.assignPositions("test", 100, ""))
    await database.run(database.fanOut.fanOut([{ tenant, id: ofService }], { maxEvents: 10, maxDeliveries: 10 }))
    const { rows: callers } = await database.sql.query(
      "select distinct shared_mail_by as by from deliveries where event_id = $1 and integration_id = $2",
      [ofService, mail]
    )
    assert.deepStrictEqual(callers, [{ by: "" }])
  })
})

describe("MailProofs", () => {
  let service: Service
  let fixture: MailFixture
  let sql: ReturnType<typeof openPool>
  beforeAll(async () => {
    service = await startService({})
    fixture = await makeMailFixture(service, 9)
    sql = openPool(service.database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  /** A leased delivery of a mail, and the call that begins its last step. */
  const makeLeased = async () => {
    const invoice = await fixture.issue()
    const [delivery] = await fixture.send(invoice, { to: ["ada@client.example"] })
    const id = delivery?.id ?? ""
    await sql.query(
      "update deliveries set lease = 'lease_1', leased_until = now() + interval '30 seconds' where id = $1",
      [id]
    )
    const mail = {
      tenant: TenantId.make(fixture.tenant),
      delivery: id,
      round: 0,
      integration: fixture.integration.id,
      event: "evt_1",
      document: { kind: "invoice", id: invoice },
      client: undefined,
      recipient: "ada@client.example",
      messageId: "<1@a>",
      isShared: false,
      requestedBy: undefined
    } as const
    const withProofs = <A, E>(use: (proofs: ReturnType<typeof makeMailProofs>) => Effect.Effect<A, E>) =>
      Effect.flatMap(SqlClient.SqlClient, (client) => use(makeMailProofs(client))).pipe(
        Effect.provide(testLayers(service.database.url)),
        Effect.runPromise
      )
    const begin = (lease = "lease_1") => withProofs((proofs) => proofs.begin(mail, lease))
    const record = (outcome: MailOutcome) => withProofs((proofs) => Effect.orDie(proofs.record({ ...mail, outcome })))
    return { id, invoice, begin, record }
  }

  it("accepts a mail once", async () => {
    const { begin } = await makeLeased()
    assert.deepStrictEqual([await begin(), await begin()], [true, false])
  })

  it("accepts it again after a result that is retried, and not after any other", async () => {
    const { begin, id } = await makeLeased()
    await begin()
    for (const [outcome, expected] of [
      ["SENT", false],
      ["UNCERTAIN", false],
      ["REFUSED", false],
      ["RETRY", true]
    ] as const) {
      await sql.query("update invoice_mails set outcome = $2 where delivery_id = $1", [id, outcome])
      assert.strictEqual(await begin(), expected, outcome)
    }
  })

  it("records a result that is retried for its own mail and round alone", async () => {
    const [one, other] = [await makeLeased(), await makeLeased()]
    await one.begin()
    await other.begin()
    const copy = (tenant: string, delivery: string, round: number) =>
      sql.query(
        `insert into invoice_mails (tenant_id, delivery_id, round, integration_id, event_id, invoice_id, recipient,
           message_id, is_shared)
         select $1, $2, $3, integration_id, event_id, invoice_id, recipient, message_id, is_shared
         from invoice_mails where delivery_id = $4`,
        [tenant, delivery, round, other.id]
      )
    await copy(fixture.tenant, one.id, 1)
    const stranger = await service.newTenant()
    await copy(stranger, one.id, 0)
    await one.record("RETRY")
    const { rows } = await sql.query(
      "select tenant_id as tenant, delivery_id as delivery, round from invoice_mails where outcome = 'RETRY' and delivery_id = any ($1)",
      [[one.id, other.id]]
    )
    assert.deepStrictEqual(rows, [{ tenant: fixture.tenant, delivery: one.id, round: 0 }])
    await sql.query("delete from invoice_mails where tenant_id = $1", [stranger])
  })

  it("counts the event of a mail in its own document alone", async () => {
    const [one, other] = [await makeLeased(), await makeLeased()]
    const sequencesOf = async () => {
      const { rows } = await sql.query("select id, sequence from invoices")
      return Object.fromEntries(rows.map(({ id, sequence }) => [id, Number(sequence)]))
    }
    const before = await sequencesOf()
    await one.begin()
    await one.record("SENT")
    await other.begin()
    await other.record("UNCERTAIN")
    const sequence = (before[one.invoice] ?? 0) + 1
    assert.deepStrictEqual(await sequencesOf(), { ...before, [one.invoice]: sequence })
    const { rows } = await sql.query(
      "select sequence::int from events where resource_id = $1 and type = 'invoice.sent'",
      [one.invoice]
    )
    assert.deepStrictEqual(rows, [{ sequence }])
  })

  it("show in the list of their own invoice what became of them, and when", async () => {
    const [one, other] = [await makeLeased(), await makeLeased()]
    await one.begin()
    await other.begin()
    for (const outcome of ["SENT", "REFUSED", "UNCERTAIN", "RETRY"]) {
      await sql.query(
        "update invoice_mails set outcome = $2, finished_at = now(), reason = $2 where delivery_id = $1",
        [one.id, outcome]
      )
      const listed = await fixture.mails(one.invoice)
      assert.deepStrictEqual(
        listed.map(({ error, finishedAt, id }) => ({ id, isFinished: finishedAt !== undefined, error })),
        [{ id: one.id, isFinished: outcome !== "RETRY", error: outcome }]
      )
    }
    await sql.query("update deliveries set error = 'the last attempt' where id = $1", [one.id])
    assert.strictEqual((await fixture.mails(one.invoice))[0]?.error, "the last attempt")
  })

  it("declines without the lease, and after the lease has expired", async () => {
    const { begin, id } = await makeLeased()
    assert.isFalse(await begin("lease_2"))
    await sql.query("update deliveries set leased_until = now() where id = $1", [id])
    assert.isFalse(await begin())
  })

  it("declines a voided invoice, and prevents the void of a mail that has begun", async () => {
    const voided = await makeLeased()
    await fixture.invoicing.transition(voided.invoice, "void")
    assert.isFalse(await voided.begin())
    const begun = await makeLeased()
    await begun.begin()
    assert.strictEqual((await fixture.invoicing.tryTransition(begun.invoice, "void")).status, 400)
  })
})
