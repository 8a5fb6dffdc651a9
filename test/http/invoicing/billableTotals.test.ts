import fc from "fast-check"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { exactLineTotal, isSafe } from "../../support/assertions/exactMoney.ts"
import { invoiceClient, lineOf, readBilledMinor } from "../../support/fixtures/invoices.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

interface Terms {
  readonly quantity: number
  readonly amountMinor: number
}

/** The expected state of an invoice. Only drafts count towards the contract. */
interface InvoiceModel {
  readonly id: string
  readonly lines: Map<string, Terms>
  status: "DRAFT" | "VOID" | "DELETED"
}

const maxInteger = Number.MAX_SAFE_INTEGER
const terms = fc.record({
  quantity: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.integer({ min: -999, max: 9_999 }), fc.nat(3)).map(([n, s]) => n / 10 ** s) },
    fc.constantFrom(0, 0.5, -0.5, 1.005, 1e-12, 0.999999999999, maxInteger)
  ),
  amountMinor: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -5_000, max: 50_000 }) },
    fc.constantFrom(0, 1, -1, maxInteger, -maxInteger)
  )
})
const index = fc.nat(1000)
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      invoice: index,
      lines: fc.array(terms, { minLength: 1, maxLength: 4 })
    })
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("change" as const), invoice: index, line: index, terms }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), invoice: index, line: index }) },
  fc.record({ do: fc.constant("draft" as const) }),
  fc.record({ do: fc.constant("void" as const), invoice: index }),
  fc.record({ do: fc.constant("discard" as const), invoice: index })
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const cap = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined })

const lineTotal = ({ amountMinor, quantity }: Terms) => exactLineTotal(quantity, amountMinor)
const totalOf = (lines: Iterable<Terms>) => [...lines].reduce((total, line) => total + lineTotal(line), 0n)
const billedBy = (invoices: ReadonlyArray<InvoiceModel>) =>
  totalOf(invoices.flatMap(({ lines, status }) => (status === "DRAFT" ? [...lines.values()] : [])))

describe("Totals of invoices and contracts", () => {
  let service: Service
  let pool: pg.Pool
  let invoices: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    invoices = invoiceClient(service, await service.newTenant())
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  /** The request of an action, all lines and the new lines after it succeeds, and the update of the model. */
  interface Attempt {
    readonly send: () => Promise<ServiceResponse>
    readonly remaining: Iterable<Terms>
    readonly added: ReadonlyArray<Terms>
    readonly apply: (response: ServiceResponse) => void
  }

  const attemptOf = (action: Exclude<Action, { do: "draft" }>, invoice: InvoiceModel): Attempt | undefined => {
    const { call, tryAdd, tryTransition } = invoices
    const { id, lines } = invoice
    if (action.do === "add") {
      return {
        send: () => tryAdd(id, ...action.lines),
        remaining: [...lines.values(), ...action.lines],
        added: action.lines,
        apply: ({ body }) => {
          for (const [n, line] of action.lines.entries()) lines.set(body.data[n].id, line)
        }
      }
    }
    if (action.do === "void" || action.do === "discard") {
      return {
        send: () => (action.do === "void" ? tryTransition(id, "void") : call("DELETE", `/invoices/${id}`)),
        remaining: [],
        added: [],
        apply: () => {
          invoice.status = action.do === "void" ? "VOID" : "DELETED"
        }
      }
    }
    const line = [...lines.keys()][action.line % Math.max(1, lines.size)]
    if (line === undefined) return undefined
    const path = `/billables/${line}`
    return action.do === "change"
      ? {
          send: () => call("PATCH", path, action.terms),
          remaining: new Map([...lines, [line, action.terms]]).values(),
          added: [action.terms],
          apply: () => void lines.set(line, action.terms)
        }
      : {
          send: () => call("DELETE", path),
          remaining: [...lines].flatMap(([other, terms]) => (other === line ? [] : [terms])),
          added: [],
          apply: () => void lines.delete(line)
        }
  }

  it("equal the sum of the lines after random additions, changes and deletions", async () => {
    const { contract, draft, lines: linesOf, read } = invoices
    let rejections = 0

    const property = fc.asyncProperty(fc.array(action, { maxLength: 15 }), cap, async (actions, capMinor) => {
      const { id: contractId } = await contract({ capMinor })
      const createDraft = async (): Promise<InvoiceModel> => ({
        id: (await draft({ contractId })).id,
        lines: new Map(),
        status: "DRAFT"
      })
      const invoices = [await createDraft()]

      const isAccepted = (invoice: InvoiceModel, { added, remaining }: Attempt) => {
        const total = totalOf(remaining)
        const before = billedBy(invoices)
        const after = before - totalOf(invoice.lines.values()) + total
        const isWithinCap = after <= before || capMinor === undefined || after <= BigInt(capMinor)
        return invoice.status === "DRAFT" && isWithinCap && [...added.map(lineTotal), total, after].every(isSafe)
      }

      for (const action of actions) {
        if (action.do === "draft") {
          invoices.push(await createDraft())
          continue
        }
        const existing = invoices.filter(({ status }) => status !== "DELETED")
        const invoice = existing[action.invoice % Math.max(1, existing.length)]
        const attempt = invoice === undefined ? undefined : attemptOf(action, invoice)
        if (invoice === undefined || attempt === undefined) continue
        const expected = isAccepted(invoice, { ...attempt, remaining: [...attempt.remaining] })
        const response = await attempt.send()
        assert.strictEqual(response.status < 300, expected, `${response.status} ${response.text}`)
        if (expected) attempt.apply(response)
        else {
          assert.strictEqual(response.status, 400, response.text)
          rejections++
        }
      }

      for (const { id, lines } of invoices.filter(({ status }) => status !== "DELETED")) {
        const totalMinor = Number(totalOf(lines.values()))
        assert.deepInclude(await read(id), { subtotalMinor: totalMinor, totalMinor, billableCount: lines.size })
        assert.deepStrictEqual(
          new Map((await linesOf(id)).map((line) => [line.id, line.lineTotalMinor])),
          new Map([...lines].map(([line, terms]) => [line, Number(lineTotal(terms))]))
        )
      }
      assert.strictEqual(await readBilledMinor(pool, contractId), Number(billedBy(invoices)))
    })
    await fc.assert(property, { numRuns: 60, endOnFailure: true })
    assert.isAbove(rejections, 10, "the property covers the limits")
  }, 120_000)

  it("equal the sum of the lines after concurrent additions, changes and deletions", async () => {
    const { add, call, contract, draft, lines: linesOf, read } = invoices
    const { id: contractId } = await contract()
    const [one, other] = [await draft({ contractId }), await draft({ contractId })]
    const created = [...(await add(one.id, {}, {}, {}, {})), ...(await add(other.id, {}, {}, {}, {}))]
    const responses = await Promise.all(
      created.flatMap(({ id, invoice }, n) => [
        call("POST", "/billables", { invoiceId: invoice, billables: [lineOf({ quantity: n / 8 }), lineOf()] }),
        n % 2 === 0 ? call("DELETE", `/billables/${id}`) : call("PATCH", `/billables/${id}`, { amountMinor: n * 7 })
      ])
    )
    for (const { status, text } of responses) assert.isBelow(status, 300, text)
    let billed = 0
    for (const { id } of [one, other]) {
      const lines = await linesOf(id)
      const totalMinor = lines.reduce((total, { lineTotalMinor }) => total + lineTotalMinor, 0)
      assert.deepInclude(await read(id), { subtotalMinor: totalMinor, totalMinor, billableCount: 10 })
      assert.lengthOf(lines, 10)
      billed += totalMinor
    }
    assert.strictEqual(await readBilledMinor(pool, contractId), billed)
  })
})
