import fc from "fast-check"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { exactLineTotal, isSafe } from "../../support/assertions/exactMoney.ts"
import { billedUnder, invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

interface Terms {
  readonly quantity: number
  readonly amountMinor: number
}

/** An invoice as it should be; only what is a draft counts. */
interface Modelled {
  readonly id: string
  readonly lines: Map<string, Terms>
  status: "DRAFT" | "VOID" | "gone"
}

const most = Number.MAX_SAFE_INTEGER
const terms = fc.record({
  quantity: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.integer({ min: -999, max: 9_999 }), fc.nat(3)).map(([n, s]) => n / 10 ** s) },
    fc.constantFrom(0, 0.5, -0.5, 1.005, 1e-12, 0.999999999999, most)
  ),
  amountMinor: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -5_000, max: 50_000 }) },
    fc.constantFrom(0, 1, -1, most, -most)
  )
})
const at = fc.nat(1000)
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      at,
      lines: fc.array(terms, { minLength: 1, maxLength: 4 })
    })
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("change" as const), at, line: at, terms }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), at, line: at }) },
  fc.record({ do: fc.constant("draft" as const) }),
  fc.record({ do: fc.constant("void" as const), at }),
  fc.record({ do: fc.constant("discard" as const), at })
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const cap = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined })

const lineTotal = ({ amountMinor, quantity }: Terms) => exactLineTotal(quantity, amountMinor)
const totalOf = (lines: Iterable<Terms>) => [...lines].reduce((total, line) => total + lineTotal(line), 0n)
const billedBy = (invoices: ReadonlyArray<Modelled>) =>
  totalOf(invoices.flatMap(({ lines, status }) => (status === "DRAFT" ? [...lines.values()] : [])))

describe("totals", () => {
  let service: Service
  let pool: pg.Pool
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    invoicing = invoiceClient(service, await service.newTenant())
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  /** What an action asks for, the lines that count afterwards if it is done, those among them it brings, and the rest. */
  interface Attempt {
    readonly send: () => Promise<ServiceResponse>
    readonly left: Iterable<Terms>
    readonly brought: ReadonlyArray<Terms>
    readonly done: (answer: ServiceResponse) => void
  }

  const attemptOf = (todo: Exclude<Action, { do: "draft" }>, invoice: Modelled): Attempt | undefined => {
    const { call, tryAdd, tryMove } = invoicing
    const { id, lines } = invoice
    if (todo.do === "add") {
      return {
        send: () => tryAdd(id, ...todo.lines),
        left: [...lines.values(), ...todo.lines],
        brought: todo.lines,
        done: ({ body }) => {
          for (const [n, line] of todo.lines.entries()) lines.set(body.data[n].id, line)
        }
      }
    }
    if (todo.do === "void" || todo.do === "discard") {
      return {
        send: () => (todo.do === "void" ? tryMove(id, "void") : call("DELETE", `/invoices/${id}`)),
        left: [],
        brought: [],
        done: () => {
          invoice.status = todo.do === "void" ? "VOID" : "gone"
        }
      }
    }
    const line = [...lines.keys()][todo.line % Math.max(1, lines.size)]
    if (line === undefined) return undefined
    const path = `/billables/${line}`
    return todo.do === "change"
      ? {
          send: () => call("PATCH", path, todo.terms),
          left: new Map([...lines, [line, todo.terms]]).values(),
          brought: [todo.terms],
          done: () => void lines.set(line, todo.terms)
        }
      : {
          send: () => call("DELETE", path),
          left: [...lines].flatMap(([other, terms]) => (other === line ? [] : [terms])),
          brought: [],
          done: () => void lines.delete(line)
        }
  }

  it("are what the lines come to, after whatever was added, changed and deleted", async () => {
    const { contract, draft, lines: linesOf, read } = invoicing
    let refusals = 0

    const property = fc.asyncProperty(fc.array(action, { maxLength: 15 }), cap, async (actions, capMinor) => {
      const { id: contractId } = await contract({ capMinor })
      const begin = async (): Promise<Modelled> => ({
        id: (await draft({ contractId })).id,
        lines: new Map(),
        status: "DRAFT"
      })
      const invoices = [await begin()]

      const isWelcome = (invoice: Modelled, { brought, left }: Attempt) => {
        const total = totalOf(left)
        const before = billedBy(invoices)
        const after = before - totalOf(invoice.lines.values()) + total
        const isWithinCap = after <= before || capMinor === undefined || after <= BigInt(capMinor)
        return invoice.status === "DRAFT" && isWithinCap && [...brought.map(lineTotal), total, after].every(isSafe)
      }

      for (const todo of actions) {
        if (todo.do === "draft") {
          invoices.push(await begin())
          continue
        }
        const present = invoices.filter(({ status }) => status !== "gone")
        const invoice = present[todo.at % Math.max(1, present.length)]
        const attempt = invoice === undefined ? undefined : attemptOf(todo, invoice)
        if (invoice === undefined || attempt === undefined) continue
        const expected = isWelcome(invoice, { ...attempt, left: [...attempt.left] })
        const answer = await attempt.send()
        assert.strictEqual(answer.status < 300, expected, `${answer.status} ${answer.text}`)
        if (expected) attempt.done(answer)
        else {
          assert.strictEqual(answer.status, 400, answer.text)
          refusals++
        }
      }

      for (const { id, lines } of invoices.filter(({ status }) => status !== "gone")) {
        const totalMinor = Number(totalOf(lines.values()))
        assert.deepInclude(await read(id), { subtotalMinor: totalMinor, totalMinor, billableCount: lines.size })
        assert.deepStrictEqual(
          new Map((await linesOf(id)).map((line) => [line.id, line.lineTotalMinor])),
          new Map([...lines].map(([line, terms]) => [line, Number(lineTotal(terms))]))
        )
      }
      assert.strictEqual(await billedUnder(pool, contractId), Number(billedBy(invoices)))
    })
    await fc.assert(property, { numRuns: 60, endOnFailure: true })
    assert.isAbove(refusals, 10, "the bounds were met as well")
  }, 120_000)

  it("are right when many add, change and delete at the same time", async () => {
    const { add, call, contract, draft, lines: linesOf, read } = invoicing
    const { id: contractId } = await contract()
    const [one, other] = [await draft({ contractId }), await draft({ contractId })]
    const made = [...(await add(one.id, {}, {}, {}, {})), ...(await add(other.id, {}, {}, {}, {}))]
    const answers = await Promise.all(
      made.flatMap(({ id, invoice }, n) => [
        call("POST", "/billables", { invoiceId: invoice, billables: [lineOf({ quantity: n / 8 }), lineOf()] }),
        n % 2 === 0 ? call("DELETE", `/billables/${id}`) : call("PATCH", `/billables/${id}`, { amountMinor: n * 7 })
      ])
    )
    for (const { status, text } of answers) assert.isBelow(status, 300, text)
    let billed = 0
    for (const { id } of [one, other]) {
      const lines = await linesOf(id)
      const totalMinor = lines.reduce((total, { lineTotalMinor }) => total + lineTotalMinor, 0)
      assert.deepInclude(await read(id), { subtotalMinor: totalMinor, totalMinor, billableCount: 10 })
      assert.lengthOf(lines, 10)
      billed += totalMinor
    }
    assert.strictEqual(await billedUnder(pool, contractId), billed)
  })
})
