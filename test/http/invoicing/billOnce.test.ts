import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const work = (referenceId: string, referenceType = "work") => ({ referenceType, referenceId })
const billedOn = (invoice: string, field = "billables[0].referenceId"): ExpectedError => [
  field,
  "unique",
  `is billed already, on invoice ${invoice}`
]

/** The same in an order of chance. */
const shuffled = <A>(all: ReadonlyArray<A>) =>
  all
    .map((one) => ({ one, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one)

describe("what was billed", () => {
  const at = useFixture(startServiceWithPool)

  const stage = async () => invoiceClient(at().service, await at().service.newTenant())

  it("is not billed again, on the same invoice or another, of the same contract or another", async () => {
    const { add, contract, draft, tryAdd } = await stage()
    const { id: contractId } = await contract()
    const { id } = await draft({ contractId })
    await add(id, work("1"), work("2"))
    for (const other of [id, (await draft({ contractId })).id, (await draft()).id]) {
      assertValidationError(await tryAdd(other, work("1")), billedOn(id))
      assertValidationError(
        await tryAdd(other, {}, work("2"), work("3"), work("1")),
        billedOn(id, "billables[1].referenceId"),
        billedOn(id, "billables[3].referenceId")
      )
    }
  })

  it("is not billed twice in one request", async () => {
    const { draft, read, tryAdd } = await stage()
    const { id } = await draft()
    const before = ["unique", "is on a line before"] as const
    assertValidationError(
      await tryAdd(id, work("1"), work("2"), {}, work("1"), work("2"), work("1")),
      ["billables[3].referenceId", ...before],
      ["billables[4].referenceId", ...before],
      ["billables[5].referenceId", ...before]
    )
    assert.strictEqual((await read(id)).billableCount, 0)
  })

  it("is told by its invoice, at however many sites the same key was billed", async () => {
    const { add, draft, tryAdd } = await stage()
    const of = (siteId?: string) => ({
      ...work("KEY-1", "jira"),
      ...(siteId === undefined ? {} : { metadata: { siteId } })
    })
    const sites = Array.from({ length: 20 }, (_, n) => `site ${n}`)
    const invoices = await Promise.all(sites.map(() => draft()))
    for (const [n, site] of sites.entries()) await add(invoices[n]?.id ?? "", of(site))
    const { id } = await draft()
    assertValidationError(
      await tryAdd(id, ...sites.map((site) => of(site))),
      ...sites.map((_, n) => billedOn(invoices[n]?.id ?? "", `billables[${n}].referenceId`))
    )
    const { body } = await tryAdd(id, of())
    assert.strictEqual(body.details[0].constraint, "unique", "a line of no site may be of any")
    assert.lengthOf(await add(id, of("another"), of("yet another")), 2)
  })

  it("is told apart by type and identifier, to the letter", async () => {
    const { add, draft } = await stage()
    const { id } = await draft()
    await add(
      id,
      work("1"),
      work("1", "issue"),
      work("1 "),
      work("01"),
      work("a"),
      work("A"),
      work("\u00e9"),
      work("e\u0301"),
      work('b","c'),
      work("c", 'work","b'),
      {},
      {}
    )
  })

  it("is known in whatever status the invoice is that bears it, unless that is void", async () => {
    const { draft, invoiceIn, tryAdd } = await stage()
    const { id: other } = await draft()
    for (const status of ["DRAFT", "FINALIZED", "PAID"] as const) {
      const { id } = await invoiceIn(status, {}, work(status))
      assertValidationError(await tryAdd(other, work(status)), billedOn(id))
    }
    await invoiceIn("VOID", {}, work("VOID"))
    assert.strictEqual((await tryAdd(other, work("VOID"))).status, 201)
  })

  it("is not billed again by changing a line", async () => {
    const { add, call, draft } = await stage()
    const [one, other] = [await draft(), await draft()]
    const [bearer, , plain] = await add(one.id, work("1"), work("1", "issue"), {})
    const [elsewhere] = await add(other.id, work("2"))
    const change = (id: string | undefined, body: object) => call("PATCH", `/billables/${id}`, body)
    assertValidationError(await change(plain?.id, work("1")), billedOn(one.id, "referenceId"))
    assertValidationError(await change(elsewhere?.id, { referenceId: "1" }), billedOn(one.id, "referenceId"))
    assertValidationError(await change(bearer?.id, { referenceId: "2" }), billedOn(other.id, "referenceId"))
    assertValidationError(await change(bearer?.id, { referenceType: "issue" }), billedOn(one.id, "referenceId"))
    assert.strictEqual((await change(bearer?.id, { ...work("1"), name: "Still its own" })).status, 200)
    assert.strictEqual((await change(bearer?.id, { referenceId: "3" })).status, 200)
    assert.strictEqual((await change(elsewhere?.id, { referenceId: "1" })).status, 200, "what the other let go of")
  })

  it("can be billed again once the line lets go of it", async () => {
    const { add, call, draft, lines, tryAdd } = await stage()
    const { id: other } = await draft()
    const releases: Readonly<Record<string, (invoice: string, line: string) => Promise<{ readonly status: number }>>> =
      {
        "the draft is void": (invoice) => call("POST", `/invoices/${invoice}/void`),
        "the invoice is void": async (invoice) => {
          await call("POST", `/invoices/${invoice}/finalize`)
          return call("POST", `/invoices/${invoice}/void`)
        },
        "the line is deleted": (_, line) => call("DELETE", `/billables/${line}`),
        "the draft is deleted": (invoice) => call("DELETE", `/invoices/${invoice}`),
        "the line refers to nothing": (_, line) =>
          call("PATCH", `/billables/${line}`, { referenceType: null, referenceId: null })
      }
    for (const [what, release] of Object.entries(releases)) {
      const { id } = await draft()
      const [line] = await add(id, work(what))
      assertValidationError(await tryAdd(other, work(what)), billedOn(id))
      assert.include([200, 204], (await release(id, line?.id ?? "")).status, what)
      assert.strictEqual((await tryAdd(other, work(what))).status, 201, what)
      assertValidationError(await tryAdd(other, work(what)), billedOn(other))
    }
    assert.lengthOf(await lines(other), Object.keys(releases).length)
  })

  it("is still shown on the lines of a void invoice", async () => {
    const { call, invoiceIn } = await stage()
    const { line } = await invoiceIn("VOID", {}, work("1"))
    assert.deepInclude((await call("GET", `/billables/${line}`)).body.data, work("1"))
  })

  it("is no other tenant's business", async () => {
    for (const { invoiceIn } of [await stage(), await stage()]) await invoiceIn("DRAFT", {}, work("1"))
  })

  describe("is billed once", () => {
    const many = 20

    it("when twenty bill the same in any order, each on an invoice of its own, and the others are told where", async () => {
      const { draft, lines, tryAdd } = await stage()
      const drafts = await Promise.all(Array.from({ length: many }, () => draft()))
      for (let round = 0; round < 3; round++) {
        const references = Array.from({ length: 10 }, (_, n) => work(`${round}-${n}`))
        const answers = await Promise.all(drafts.map(({ id }) => tryAdd(id, ...shuffled(references))))
        const winner = drafts[answers.findIndex(({ status }) => status === 201)]?.id ?? assert.fail("nobody won")
        const lost = answers.filter(({ status }) => status !== 201)
        assert.lengthOf(lost, many - 1)
        for (const answer of lost) {
          assertValidationError(answer, ...references.map((_, n) => billedOn(winner, `billables[${n}].referenceId`)))
        }
        const found = (await lines(winner)).map(({ referenceId }) => referenceId)
        assert.includeMembers(
          found,
          references.map(({ referenceId }) => referenceId)
        )
      }
    })

    it("when hundreds are billed in opposite orders at the same moment, and nobody waits in a circle", async () => {
      const { draft, tryAdd } = await stage()
      const lock = "lock table billables in share row exclusive mode"
      for (let round = 0; round < 3; round++) {
        const references = Array.from({ length: 500 }, (_, n) => work(`${round}-${n}`))
        const drafts = await Promise.all(Array.from({ length: 4 }, () => draft()))
        const held = await lockRow(at().pool, lock)
        const racing = Promise.all(
          drafts.map(({ id }, n) => tryAdd(id, ...(n % 2 === 0 ? references : references.toReversed())))
        )
        try {
          await held.until(4)
        } finally {
          await held.release()
        }
        assert.deepStrictEqual((await racing).map(({ status }) => status).sort(), [201, 400, 400, 400])
      }
    })

    it("when each request has an Idempotency-Key of its own", async () => {
      const { call, draft } = await stage()
      const drafts = await Promise.all(Array.from({ length: many }, () => draft()))
      const references = Array.from({ length: 5 }, (_, n) => work(`${n}`))
      const answers = await Promise.all(
        drafts.map(({ id }) => {
          const body = { invoiceId: id, billables: shuffled(references).map(lineOf) }
          return call("POST", "/billables", body, { "idempotency-key": id })
        })
      )
      const winner = drafts[answers.findIndex(({ status }) => status === 201)]?.id ?? assert.fail("nobody won")
      const lost = answers.filter(({ status }) => status !== 201)
      assert.lengthOf(lost, many - 1)
      for (const answer of lost) {
        assertValidationError(answer, ...references.map((_, n) => billedOn(winner, `billables[${n}].referenceId`)))
      }
    })

    it("when what they bill overlaps, and nobody is refused without cause", async () => {
      const { draft, lines, tryAdd } = await stage()
      const references = Array.from({ length: 30 }, (_, n) => work(`${n}`))
      const requests = await Promise.all(
        Array.from({ length: many }, async () => ({ id: (await draft()).id, wanted: shuffled(references).slice(0, 4) }))
      )
      const answers = await Promise.all(requests.map(({ id, wanted }) => tryAdd(id, ...wanted)))
      const bearers = new Map<unknown, string>()
      for (const { id } of requests) {
        for (const { referenceId } of await lines(id)) {
          assert.isFalse(bearers.has(referenceId), `${referenceId} is on two lines`)
          bearers.set(referenceId, id)
        }
      }
      for (const [n, answer] of answers.entries()) {
        const { id = "", wanted = [] } = requests[n] ?? {}
        if (answer.status === 201) {
          for (const { referenceId } of wanted) assert.strictEqual(bearers.get(referenceId), id)
          continue
        }
        assert.strictEqual(answer.status, 400, answer.text)
        for (const { constraint, field, message } of answer.body.details) {
          const place = Number(/^billables\[(\d+)\]\.referenceId$/.exec(field)?.[1])
          assert.deepStrictEqual(
            [constraint, message],
            ["unique", `is billed already, on invoice ${bearers.get(wanted[place]?.referenceId)}`]
          )
        }
      }
    })

    it("when some change lines to it while others add it", async () => {
      const { add, call, draft, lines, tryAdd } = await stage()
      const drafts = await Promise.all(Array.from({ length: many }, () => draft()))
      const plain = await Promise.all(drafts.map(async ({ id }) => (await add(id, {}))[0]?.id))
      const answers = await Promise.all(
        drafts.map(({ id }, n) =>
          n % 2 === 0 ? tryAdd(id, work("wanted")) : call("PATCH", `/billables/${plain[n]}`, work("wanted"))
        )
      )
      assert.lengthOf(
        answers.filter(({ status }) => status < 300),
        1
      )
      const winner = drafts[answers.findIndex(({ status }) => status < 300)]?.id ?? ""
      for (const [n, answer] of answers.entries()) {
        if (answer.status >= 300) {
          assertValidationError(answer, billedOn(winner, n % 2 === 0 ? "billables[0].referenceId" : "referenceId"))
        }
      }
      const bearing = (await Promise.all(drafts.map(({ id }) => lines(id)))).flat()
      assert.lengthOf(
        bearing.filter(({ referenceId }) => referenceId === "wanted"),
        1
      )
    })

    it("after it was let go of, when many want it next", async () => {
      const { draft, invoiceIn, move, tryAdd } = await stage()
      const { id: bearer } = await invoiceIn("FINALIZED", {}, work("1"))
      const drafts = await Promise.all(Array.from({ length: 10 }, () => draft()))
      const [, ...answers] = await Promise.all([move(bearer, "void"), ...drafts.map(({ id }) => tryAdd(id, work("1")))])
      for (const { status, text } of answers) assert.include([201, 400], status, text)
      assert.isAtMost(answers.filter(({ status }) => status === 201).length, 1)
    })
  })
})
