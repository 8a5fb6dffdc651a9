import { assert, beforeAll, describe, it, vi } from "vitest"
import { makePageFixture, type PageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

describe("The first opening of a page", { timeout: 60_000 }, () => {
  const fixture = useFixture(startPageService)
  let page: PageFixture
  beforeAll(async () => {
    page = await makePageFixture(fixture().service)
  })

  const open = (path: string, method = "GET") => fixture().service.call(method, path)

  const viewsOf = async (invoice: string) => {
    const { rows } = await fixture().pool.query<{ data: object; client_id: string; sequence: number }>(
      "select data, client_id, sequence from events where resource_id = $1 and type = 'invoice.viewed'",
      [invoice]
    )
    return rows
  }

  it("records invoice.viewed once under 20 openings at the same time, and never again", async () => {
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await open(path)).status))
    assert.deepStrictEqual(new Set(statuses), new Set([200]))
    await page.call("POST", `/invoices/${id}/link/rotate`)
    assert.strictEqual((await open(await page.pathTo(id))).status, 200)
    const [viewed, ...more] = await viewsOf(id)
    assert.isEmpty(more)
    assert.strictEqual(viewed?.client_id, page.client)
    const { viewedAt } = await page.link(id)
    assert.deepStrictEqual(viewed?.data, { id, viewedAt })
  })

  it("is no request with HEAD, for the PDF or with a wrong token", async () => {
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    await open(path, "HEAD")
    await open(`${path}/pdf`)
    await open(`${path}/logo`)
    await open(`${path}x`)
    assert.isEmpty(await viewsOf(id))
    assert.notProperty(await page.link(id), "viewedAt")
  })

  it("is recorded in the sequence of the invoice's events, also of one that is paid or void", async () => {
    for (const transition of ["pay", "void"]) {
      const { id } = await page.issue()
      await page.transition(id, transition)
      await open(await page.pathTo(id))
      const { rows } = await fixture().pool.query<{ sequence: number; type: string }>(
        "select type, sequence from events where resource_id = $1 order by sequence",
        [id]
      )
      assert.deepInclude(rows.at(-1), { type: "invoice.viewed" })
      assert.deepStrictEqual(
        rows.map(({ sequence }) => sequence),
        rows.map((_, n) => n + 1)
      )
    }
  })

  it("is shown while the database is read-only, and recorded later", async () => {
    const { pool, service } = fixture()
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    const others = "datname = current_database() and pid <> pg_backend_pid()"
    const { name } = service.database
    try {
      await pool.query(`alter database ${name} set default_transaction_read_only = on`)
      await pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${others}`)
      await vi.waitFor(async () => assert.strictEqual((await open(path)).status, 200), { timeout: 60_000 })
      assert.include((await open(path)).text, 'class="status"')
    } finally {
      const writer = await pool.connect()
      await writer.query("set default_transaction_read_only = off")
      await writer.query(`alter database ${name} reset default_transaction_read_only`)
      writer.release()
    }
    assert.isEmpty(await viewsOf(id))
    await vi.waitFor(
      async () => {
        await open(path)
        assert.lengthOf(await viewsOf(id), 1)
      },
      { timeout: 60_000, interval: 500 }
    )
  })
})
