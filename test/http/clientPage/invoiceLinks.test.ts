import { randomBytes } from "node:crypto"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { caseCount } from "../../support/caseCount.ts"
import {
  makePageFixture,
  type PageFixture,
  pathOf,
  publicUrl,
  startPageService
} from "../../support/fixtures/clientPages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const randomToken = () => randomBytes(32).toString("base64url")

/** All that a visitor sees of a response, except what differs by request. */
const seen = ({ headers, status, text }: ServiceResponse) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !["date", "x-request-id"].includes(name))
})

describe("The link to the page of an invoice", { timeout: 60_000 }, () => {
  const fixture = useFixture(startPageService)
  let page: PageFixture
  beforeAll(async () => {
    page = await makePageFixture(fixture().service)
  })
  const open = (path: string, method = "GET") => fixture().service.call(method, path)
  const statusOf = async (path: string) => (await open(path)).status

  it("is created once, however many ask for it at the same time", async () => {
    const { id } = await page.issue()
    const links = await Promise.all(Array.from({ length: 10 }, () => page.link(id)))
    assert.lengthOf(new Set(links.map(({ url }) => url)), 1)
    assert.match(links[0].url, new RegExp(`^${publicUrl}/i/[\\w-]{43}$`))
    assert.strictEqual(await statusOf(pathOf(links[0].url)), 200)
  })

  it("is stored as a hash and sealed, never as a text", async () => {
    const { id } = await page.issue()
    const token = (await page.pathTo(id)).slice(3)
    const { rows } = await fixture().pool.query<{ row: string; sealed: Buffer; token_hash: Buffer }>(
      "select to_json(this)::text as row, sealed, token_hash from invoice_links this where invoice_id = $1",
      [id]
    )
    const [{ row, sealed, token_hash }] = [rows[0] ?? assert.fail("no row")]
    assert.lengthOf(token_hash, 32)
    for (const stored of [Buffer.from(row), sealed, token_hash]) assert.isFalse(stored.includes(token))
  })

  it("opens the page by its hash, without decrypting anything", async () => {
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    await fixture().pool.query("update invoice_links set sealed = 'damaged' where invoice_id = $1", [id])
    assert.strictEqual(await statusOf(path), 200)
  })

  it("opens nothing any more as soon as it is rotated, and the new one does", async () => {
    const { id } = await page.issue()
    const before = await page.pathTo(id)
    const { body, status } = await page.call("POST", `/invoices/${id}/link/rotate`)
    assert.strictEqual(status, 200)
    const after = pathOf(body.data.url)
    assert.notStrictEqual(after, before)
    assert.deepStrictEqual([await statusOf(before), await statusOf(`${before}/pdf`)], [404, 404])
    assert.strictEqual(await statusOf(after), 200)
    assert.strictEqual(await page.pathTo(id), after)
  })

  it("stays revoked until it is rotated", async () => {
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    for (let n = 0; n < 2; n++) assert.strictEqual((await page.call("DELETE", `/invoices/${id}/link`)).status, 204)
    assert.strictEqual(await statusOf(path), 404)
    const revoked = await page.link(id)
    assert.notProperty(revoked, "url")
    assert.property(revoked, "revokedAt")
    const { body } = await page.call("POST", `/invoices/${id}/link/rotate`)
    assert.notProperty(body.data, "revokedAt")
    assert.strictEqual(await statusOf(pathOf(body.data.url)), 200)
    assert.strictEqual(await statusOf(path), 404)
  })

  it("has an event when it is rotated and when it is revoked, once and without the token", async () => {
    const { id } = await page.issue()
    const { body } = await page.call("POST", `/invoices/${id}/link/rotate`)
    for (let n = 0; n < 2; n++) await page.call("DELETE", `/invoices/${id}/link`)
    const { revokedAt } = await page.link(id)
    const { rows } = await fixture().pool.query(
      `select type, data, client_id as client, created_by as by, sequence - lag(sequence) over (order by sequence) as step
       from events where resource_id = $1 order by sequence desc limit 2`,
      [id]
    )
    const by = { by: "owner", client: page.client, step: 1 }
    assert.deepStrictEqual(rows, [
      { type: "invoice.link_revoked", data: { id, changedAt: revokedAt }, ...by },
      { type: "invoice.link_rotated", data: { id, changedAt: body.data.createdAt }, ...by }
    ])
  })

  it("can be revoked before it exists", async () => {
    const { id } = await page.issue()
    assert.strictEqual((await page.call("DELETE", `/invoices/${id}/link`)).status, 204)
    assert.notProperty(await page.link(id), "url")
  })

  it("exists only for an invoice that was finalized", async () => {
    const draft = await page.invoiceIn("DRAFT", { contractId: page.contractId })
    const voided = await page.invoiceIn("DRAFT", { contractId: page.contractId })
    await page.transition(voided.id, "void")
    for (const { id } of [draft, voided])
      for (const [method, path] of [
        ["GET", "link"],
        ["POST", "link/rotate"],
        ["DELETE", "link"]
      ] as const) {
        const { body, status } = await page.call(method, `/invoices/${id}/${path}`)
        assert.strictEqual(status, 400)
        assert.deepInclude(body.details[0], { field: "status", constraint: "state" })
      }
  })

  it("of another tenant is not found", async () => {
    const { id } = await page.issue()
    const { call } = await makePageFixture(fixture().service)
    for (const [method, path] of [
      ["GET", "link"],
      ["POST", "link/rotate"],
      ["DELETE", "link"]
    ] as const)
      assert.strictEqual((await call(method, `/invoices/${id}/${path}`)).status, 404)
  })

  it("opens the page and the PDF of its own invoice alone", async () => {
    const [one, other] = [await page.issue(), await page.issue()]
    const [path, otherPath] = [await page.pathTo(one.id), await page.pathTo(other.id)]
    assert.include((await open(path)).text, String(one["invoiceNumber"]))
    assert.notInclude((await open(path)).text, String(other["invoiceNumber"]))
    assert.include((await open(otherPath)).text, String(other["invoiceNumber"]))
    const disposition = (await open(`${path}/pdf`)).headers.get("content-disposition")
    assert.strictEqual(disposition, `inline; filename="${one["invoiceNumber"]}.pdf"`)
    for (const more of ["/xml", "/link", "/pdf/x", `/${other.id}`]) assert.strictEqual(await statusOf(path + more), 404)
    const token = path.slice(3)
    for (const headers of [{ authorization: `Bearer ${token}`, "tenant-id": page.tenant }]) {
      const response = await fixture().service.api("GET", `/invoices/${one.id}`, { headers })
      assert.strictEqual(response.status, 401)
    }
  })

  it("of a deleted tenant opens nothing", async () => {
    const deleted = await makePageFixture(fixture().service)
    const path = await deleted.pathTo((await deleted.issue()).id)
    assert.strictEqual(await statusOf(path), 200)
    assert.strictEqual((await deleted.call("DELETE", `/tenants/${deleted.tenant}`)).status, 204)
    assert.strictEqual(await statusOf(path), 404)
  })

  it("gets the same 404 whether it is wrong, malformed, revoked or rotated", async () => {
    const [rotated, revoked] = [await page.issue(), await page.issue()]
    const paths = [await page.pathTo(rotated.id), await page.pathTo(revoked.id)]
    await page.call("POST", `/invoices/${rotated.id}/link/rotate`)
    await page.call("DELETE", `/invoices/${revoked.id}/link`)
    const expected = seen(await open(`/i/${randomToken()}`))
    assert.strictEqual(expected.status, 404)
    assert.include(expected.text, "This link does not open an invoice")
    for (const path of [...paths, "/i/x", "/i/%20", `/i/${"a".repeat(5000)}`, `/i/${randomToken()}.`])
      for (const part of ["", "/pdf", "/logo"]) assert.deepStrictEqual(seen(await open(path + part)), expected, path)
    const head = await open(`/i/${randomToken()}`, "HEAD")
    assert.deepStrictEqual(head.headers.get("x-robots-tag"), "noindex")
    assert.strictEqual(head.text, "")
  })

  it("is not guessed: random tokens open nothing, each for one look-up in an index, and malformed ones for none", async () => {
    const { pool } = fixture()
    await page.pathTo((await page.issue()).id)
    /** What all connections have read so far. They report it when they end. */
    const readCounts = async () => {
      const others = "datname = current_database() and pid <> pg_backend_pid()"
      await pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${others}`)
      const { rows } = await pool.query<{ lookups: number; read: number; rows: number }>(
        `select idx_scan::int as lookups, idx_tup_fetch::int as rows, seq_tup_read::int as read
         from pg_stat_user_tables where relname = 'invoice_links'`
      )
      const list = () => page.call("GET", "/invoices?limit=1")
      await vi.waitFor(
        async () => {
          for (const { status } of await Promise.all(Array.from({ length: 20 }, list))) assert.strictEqual(status, 200)
        },
        { timeout: 60_000 }
      )
      return rows[0] ?? assert.fail("no statistics")
    }
    const before = await readCounts()
    const count = caseCount(160, 10_000)
    for (let n = 0; n < count; n += 20) {
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(`/i/${randomToken()}`)))
      assert.deepStrictEqual(new Set(statuses), new Set([404]))
    }
    for (let n = 0; n < 100; n++) await open(`/i/${randomToken().slice(n % 43)}x`.slice(0, 30))
    const after = await readCounts()
    assert.strictEqual(after.lookups - before.lookups, count)
    assert.strictEqual(after.rows - before.rows, 0)
    assert.strictEqual(after.read - before.read, 0)
  })
})

describe("The link to the page of an invoice, on a server without PUBLIC_URL,", () => {
  const fixture = useFixture(() => startServiceWithPool())

  it("is rejected with the name of the setting, and can be revoked", async () => {
    const { call, issue } = await makePageFixture(fixture().service)
    const { id } = await issue()
    for (const [method, path] of [
      ["GET", "link"],
      ["POST", "link/rotate"]
    ] as const) {
      const { body, status } = await call(method, `/invoices/${id}/${path}`)
      assert.strictEqual(status, 400)
      assert.include(body.details[0].message, "PUBLIC_URL")
    }
    assert.strictEqual((await call("DELETE", `/invoices/${id}/link`)).status, 204)
  })
})
