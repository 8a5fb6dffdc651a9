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
  `is already billed on invoice ${invoice}`
]

const shuffle = <A>(all: ReadonlyArray<A>) =>
  all
    .map((one) => ({ one, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one)

describe("A billed reference", () => {
  const fixture = useFixture(() => startServiceWithPool())

  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())

  it("is rejected on another line of any invoice of any contract", async () => {
    const { add, contract, draft, tryAdd } = await createClient()
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

  it("is rejected on a second line of the same request", async () => {
    const { draft, read, tryAdd } = await createClient()
    const { id } = await draft()
    const duplicate = ["unique", "is used by an earlier line"] as const
    assertValidationError(
      await tryAdd(id, work("1"), work("2"), {}, work("1"), work("2"), work("1")),
      ["billables[3].referenceId", ...duplicate],
      ["billables[4].referenceId", ...duplicate],
      ["billables[5].referenceId", ...duplicate]
    )
    assert.strictEqual((await read(id)).billableCount, 0)
  })

  it("is reported with its invoice when the same issue key is billed at 20 Jira sites", async () => {
    const { add, draft, tryAdd } = await createClient()
    const issueLine = (siteId?: string) => ({
      ...work("KEY-1", "jira"),
      ...(siteId === undefined ? {} : { metadata: { siteId } })
    })
    const sites = Array.from({ length: 20 }, (_, n) => `site ${n}`)
    const invoices = await Promise.all(sites.map(() => draft()))
    for (const [n, site] of sites.entries()) await add(invoices[n]?.id ?? "", issueLine(site))
    const { id } = await draft()
    assertValidationError(
      await tryAdd(id, ...sites.map((site) => issueLine(site))),
      ...sites.map((_, n) => billedOn(invoices[n]?.id ?? "", `billables[${n}].referenceId`))
    )
    const { body } = await tryAdd(id, issueLine())
    assert.strictEqual(body.details[0].constraint, "unique", "a line without a site may belong to any site")
    assert.lengthOf(await add(id, issueLine("another"), issueLine("yet another")), 2)
  })

  it("is identified by the exact characters of its type and id", async () => {
    const { add, draft } = await createClient()
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

  it("stays billed in every status of its invoice except VOID", async () => {
    const { draft, invoiceIn, tryAdd } = await createClient()
    const { id: other } = await draft()
    for (const status of ["DRAFT", "FINALIZED", "PAID"] as const) {
      const { id } = await invoiceIn(status, {}, work(status))
      assertValidationError(await tryAdd(other, work(status)), billedOn(id))
    }
    await invoiceIn("VOID", {}, work("VOID"))
    assert.strictEqual((await tryAdd(other, work("VOID"))).status, 201)
  })

  it("is rejected in a change of another line", async () => {
    const { add, call, draft } = await createClient()
    const [one, other] = [await draft(), await draft()]
    const [billed, , plain] = await add(one.id, work("1"), work("1", "issue"), {})
    const [otherLine] = await add(other.id, work("2"))
    const change = (id: string | undefined, body: object) => call("PATCH", `/billables/${id}`, body)
    assertValidationError(await change(plain?.id, work("1")), billedOn(one.id, "referenceId"))
    assertValidationError(await change(otherLine?.id, { referenceId: "1" }), billedOn(one.id, "referenceId"))
    assertValidationError(await change(billed?.id, { referenceId: "2" }), billedOn(other.id, "referenceId"))
    assertValidationError(await change(billed?.id, { referenceType: "issue" }), billedOn(one.id, "referenceId"))
    assert.strictEqual((await change(billed?.id, { ...work("1"), name: "Still its own" })).status, 200)
    assert.strictEqual((await change(billed?.id, { referenceId: "3" })).status, 200)
    assert.strictEqual(
      (await change(otherLine?.id, { referenceId: "1" })).status,
      200,
      "the other line has released the reference"
    )
  })

  it("can be billed again after its line is deleted, voided or changed", async () => {
    const { add, call, draft, lines, tryAdd } = await createClient()
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
    for (const [reason, release] of Object.entries(releases)) {
      const { id } = await draft()
      const [line] = await add(id, work(reason))
      assertValidationError(await tryAdd(other, work(reason)), billedOn(id))
      assert.include([200, 204], (await release(id, line?.id ?? "")).status, reason)
      assert.strictEqual((await tryAdd(other, work(reason))).status, 201, reason)
      assertValidationError(await tryAdd(other, work(reason)), billedOn(other))
    }
    assert.lengthOf(await lines(other), Object.keys(releases).length)
  })

  it("stays on the line of a void invoice", async () => {
    const { call, invoiceIn } = await createClient()
    const { line } = await invoiceIn("VOID", {}, work("1"))
    assert.deepInclude((await call("GET", `/billables/${line}`)).body.data, work("1"))
  })

  it("can be billed in several tenants", async () => {
    for (const { invoiceIn } of [await createClient(), await createClient()]) await invoiceIn("DRAFT", {}, work("1"))
  })

  describe("is billed only once", () => {
    const requestCount = 20

    it("when concurrent requests bill the same references in random order on different invoices", async () => {
      const { draft, lines, tryAdd } = await createClient()
      const drafts = await Promise.all(Array.from({ length: requestCount }, () => draft()))
      for (let round = 0; round < 3; round++) {
        const references = Array.from({ length: 10 }, (_, n) => work(`${round}-${n}`))
        const responses = await Promise.all(drafts.map(({ id }) => tryAdd(id, ...shuffle(references))))
        const winner =
          drafts[responses.findIndex(({ status }) => status === 201)]?.id ?? assert.fail("no request succeeded")
        const rejected = responses.filter(({ status }) => status !== 201)
        assert.lengthOf(rejected, requestCount - 1)
        for (const response of rejected) {
          assertValidationError(response, ...references.map((_, n) => billedOn(winner, `billables[${n}].referenceId`)))
        }
        const billed = (await lines(winner)).map(({ referenceId }) => referenceId)
        assert.includeMembers(
          billed,
          references.map(({ referenceId }) => referenceId)
        )
      }
    })

    it("without a deadlock when concurrent requests bill 500 references in opposite orders", async () => {
      const { draft, tryAdd } = await createClient()
      const lockTable = "lock table billables in share row exclusive mode"
      for (let round = 0; round < 3; round++) {
        const references = Array.from({ length: 500 }, (_, n) => work(`${round}-${n}`))
        const drafts = await Promise.all(Array.from({ length: 4 }, () => draft()))
        const lock = await lockRow(fixture().pool, lockTable)
        const racing = Promise.all(
          drafts.map(({ id }, n) => tryAdd(id, ...(n % 2 === 0 ? references : references.toReversed())))
        )
        try {
          await lock.untilWaiting(4)
        } finally {
          await lock.release()
        }
        assert.deepStrictEqual((await racing).map(({ status }) => status).sort(), [201, 400, 400, 400])
      }
    })

    it("when each concurrent request has its own Idempotency-Key", async () => {
      const { call, draft } = await createClient()
      const drafts = await Promise.all(Array.from({ length: requestCount }, () => draft()))
      const references = Array.from({ length: 5 }, (_, n) => work(`${n}`))
      const responses = await Promise.all(
        drafts.map(({ id }) => {
          const body = { invoiceId: id, billables: shuffle(references).map(lineOf) }
          return call("POST", "/billables", body, { "idempotency-key": id })
        })
      )
      const winner =
        drafts[responses.findIndex(({ status }) => status === 201)]?.id ?? assert.fail("no request succeeded")
      const rejected = responses.filter(({ status }) => status !== 201)
      assert.lengthOf(rejected, requestCount - 1)
      for (const response of rejected) {
        assertValidationError(response, ...references.map((_, n) => billedOn(winner, `billables[${n}].referenceId`)))
      }
    })

    it("when the references of concurrent requests overlap, and only duplicates are rejected", async () => {
      const { draft, lines, tryAdd } = await createClient()
      const references = Array.from({ length: 30 }, (_, n) => work(`${n}`))
      const requests = await Promise.all(
        Array.from({ length: requestCount }, async () => ({
          id: (await draft()).id,
          wanted: shuffle(references).slice(0, 4)
        }))
      )
      const responses = await Promise.all(requests.map(({ id, wanted }) => tryAdd(id, ...wanted)))
      const invoiceOf = new Map<unknown, string>()
      for (const { id } of requests) {
        for (const { referenceId } of await lines(id)) {
          assert.isFalse(invoiceOf.has(referenceId), `${referenceId} is on two lines`)
          invoiceOf.set(referenceId, id)
        }
      }
      for (const [n, response] of responses.entries()) {
        const { id = "", wanted = [] } = requests[n] ?? {}
        if (response.status === 201) {
          for (const { referenceId } of wanted) assert.strictEqual(invoiceOf.get(referenceId), id)
          continue
        }
        assert.strictEqual(response.status, 400, response.text)
        for (const { constraint, field, message } of response.body.details) {
          const place = Number(/^billables\[(\d+)\]\.referenceId$/.exec(field)?.[1])
          assert.deepStrictEqual(
            [constraint, message],
            ["unique", `is already billed on invoice ${invoiceOf.get(wanted[place]?.referenceId)}`]
          )
        }
      }
    })

    it("when concurrent requests add it and change lines to it", async () => {
      const { add, call, draft, lines: linesOf, tryAdd } = await createClient()
      const drafts = await Promise.all(Array.from({ length: requestCount }, () => draft()))
      const plain = await Promise.all(drafts.map(async ({ id }) => (await add(id, {}))[0]?.id))
      const responses = await Promise.all(
        drafts.map(({ id }, n) =>
          n % 2 === 0 ? tryAdd(id, work("wanted")) : call("PATCH", `/billables/${plain[n]}`, work("wanted"))
        )
      )
      assert.lengthOf(
        responses.filter(({ status }) => status < 300),
        1
      )
      const winner = drafts[responses.findIndex(({ status }) => status < 300)]?.id ?? ""
      for (const [n, response] of responses.entries()) {
        if (response.status >= 300) {
          assertValidationError(response, billedOn(winner, n % 2 === 0 ? "billables[0].referenceId" : "referenceId"))
        }
      }
      const lines = (await Promise.all(drafts.map(({ id }) => linesOf(id)))).flat()
      assert.lengthOf(
        lines.filter(({ referenceId }) => referenceId === "wanted"),
        1
      )
    })

    it("when concurrent requests bill it while its invoice is voided", async () => {
      const { draft, invoiceIn, transition, tryAdd } = await createClient()
      const { id: voided } = await invoiceIn("FINALIZED", {}, work("1"))
      const drafts = await Promise.all(Array.from({ length: 10 }, () => draft()))
      const [, ...responses] = await Promise.all([
        transition(voided, "void"),
        ...drafts.map(({ id }) => tryAdd(id, work("1")))
      ])
      for (const { status, text } of responses) assert.include([201, 400], status, text)
      assert.isAtMost(responses.filter(({ status }) => status === 201).length, 1)
    })
  })
})
