import { assert, beforeAll, describe, it } from "vitest"
import { findWrongContracts } from "../../support/fixtures/billedContracts.ts"
import { makePageFixture, type PageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

describe("Voiding an invoice", { timeout: 60_000 }, () => {
  const fixture = useFixture(startPageService)
  let page: PageFixture
  beforeAll(async () => {
    page = await makePageFixture(fixture().service)
  })

  const line = { amountMinor: 1000, taxRateIds: [] }
  const issue = (...lines: ReadonlyArray<object>) => page.issue({}, lines.length === 0 ? [line] : lines)
  const open = (path: string, method = "GET") => fixture().service.call(method, path)

  /** The reasons of a refusal, which a dry run names as well. */
  const reasonsOf = async (invoice: string) => {
    const answers = [
      await page.tryTransition(invoice, "void?dryRun=true"),
      await page.tryTransition(invoice, "void")
    ].map(({ body, status }) => {
      assert.strictEqual(status, 400)
      return body.details as ReadonlyArray<{ field: string; message: string; constraint: string }>
    })
    assert.deepStrictEqual(answers[0], answers[1])
    return (answers[1] ?? []).map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)
  }

  const refusal = (text: string, status = "FINALIZED") =>
    `status state: is ${status} and cannot become VOID: ${text}; create a credit note for what is left`

  const act = async (path: string, body?: object) => {
    const { body: answer, status, text } = await page.call("POST", path, body)
    assert.strictEqual(status, 200, text)
    return answer.data
  }

  const billing = async (): Promise<object> =>
    (await page.call("GET", `/contracts/${page.contractId}/billing`)).body.data

  describe.each([
    ["the whole of it", { full: true }, 1000],
    ["a part of it", undefined, 400]
  ] as const)("is refused when a credit note took back %s", (_, full, creditedMinor) => {
    it("and its payment was reversed and the note refunded", async () => {
      const invoice = await issue()
      const payment = (await page.pay(invoice.id, 1000)).body.data
      const [first] = await page.lines(invoice.id)
      const note = await page.credit(
        invoice.id,
        full ?? { lines: [{ billableId: first?.id, amountMinor: creditedMinor }] }
      )
      const credited = refusal(`credit note ${note.creditNoteNumber} of it was finalized at ${note.issuedAt}`, "PAID")
      assert.deepStrictEqual(await reasonsOf(invoice.id), [
        "status state: is PAID; only a DRAFT or FINALIZED invoice can be voided",
        credited
      ])
      await act(`/credit-notes/${note.id}/refund`, { amountMinor: creditedMinor })
      await act(`/payments/${payment.id}/reverse`, { reason: "Bounced" })
      const before = await billing()
      assert.deepInclude(await page.read(invoice.id), { status: "FINALIZED", balanceMinor: 1000 })
      assert.deepStrictEqual(await reasonsOf(invoice.id), [credited.replace("is PAID", "is FINALIZED")])
      assert.deepStrictEqual(await billing(), before)
      assert.isEmpty(await findWrongContracts(fixture().pool))
    })
  })

  it("is refused after a mail of it was sent, or may have been", async () => {
    const insert = (invoice: string, recipient: string, outcome: string | null, startedAt: string) =>
      fixture().pool.query(
        `insert into invoice_mails (tenant_id, delivery_id, round, integration_id, event_id, invoice_id, recipient,
           message_id, is_shared, data_started_at, outcome)
         values ($1, $2, 0, 'i', 'e', $3, $2, '<1@a>', false, $4, $5)`,
        [page.tenant, `${recipient}@${invoice}`, invoice, startedAt, outcome]
      )
    const { id } = await issue()
    await insert(id, "refused", "REFUSED", "2026-11-01T00:00:00.000Z")
    assert.strictEqual((await page.tryTransition(id, "void?dryRun=true")).status, 200)
    await insert(id, "begun", null, "2026-11-02T00:00:00.000Z")
    assert.deepStrictEqual(await reasonsOf(id), [
      refusal(`it may have been sent to begun@${id} at 2026-11-02T00:00:00.000Z`)
    ])
    await insert(id, "sent", "SENT", "2026-11-03T00:00:00.000Z")
    assert.deepStrictEqual(await reasonsOf(id), [refusal(`it was sent to sent@${id} at 2026-11-03T00:00:00.000Z`)])
  })

  it("is refused after its page was opened, by GET and not by HEAD", async () => {
    const { id } = await issue()
    const path = await page.pathTo(id)
    await open(path, "HEAD")
    await page.call("GET", `/invoices/${id}/pdf`)
    assert.strictEqual((await page.tryTransition(id, "void?dryRun=true")).status, 200)
    assert.strictEqual((await open(path)).status, 200)
    const { viewedAt } = await page.link(id)
    assert.deepStrictEqual(await reasonsOf(id), [refusal(`its page was opened at ${viewedAt}`)])
  })

  it("is refused with every reason at once", async () => {
    const invoice = await issue()
    const [first] = await page.lines(invoice.id)
    await page.credit(invoice.id, { lines: [{ billableId: first?.id, amountMinor: 1 }] })
    await open(await page.pathTo(invoice.id))
    await fixture().pool.query(
      `insert into invoice_uploads (tenant_id, delivery_id, attempt, integration_id, invoice_id, started_at)
       values ($1, 'd', 1, 'i', $2, '2026-11-04T00:00:00Z')`,
      [page.tenant, invoice.id]
    )
    const [balance, note, upload, view, ...more] = await reasonsOf(invoice.id)
    assert.isEmpty(more)
    assert.include(balance, "balanceMinor state: is 999 of 1000")
    assert.include(note, "credit note CN-")
    assert.strictEqual(upload, refusal("its PDF may have been stored in Google Drive at 2026-11-04T00:00:00.000Z"))
    assert.include(view, "its page was opened")
  })

  it("waits for an opening of the page, and the page for it: a page never shows what is void", async () => {
    const { id } = await issue()
    const path = await page.pathTo(id)
    const lock = await lockRow(fixture().pool, "select 1 from invoices where id = $1 for update", id)
    const voiding = page.tryTransition(id, "void")
    await lock.untilWaiting(1)
    const opening = open(path)
    await lock.untilWaiting(2)
    await lock.release()
    assert.strictEqual((await voiding).status, 200)
    assert.include((await opening).text, "This invoice was cancelled")
  })

  it("of a draft needs none of this, and of an invoice with a draft of a credit note neither", async () => {
    const draft = await page.draft({ contractId: page.contractId })
    assert.strictEqual((await page.transition(draft.id, "void")).status, "VOID")
    const { id } = await issue()
    await page.call("POST", "/credit-notes", { invoiceId: id, reason: "Mistake", full: true })
    await act(`/invoices/${id}/void`)
    assert.isEmpty(await findWrongContracts(fixture().pool))
  })
})
