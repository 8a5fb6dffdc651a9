import { setImmediate } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { caseCount } from "../../support/caseCount.ts"
import type { Accounts } from "../../support/settlement/accounts.ts"
import { canonicalState } from "../../support/settlement/canonicalState.ts"
import { guardNames, operations } from "../../support/settlement/operations.ts"
import { explainViolations, findShortestViolation, searchSettlements } from "../../support/settlement/search.ts"

/** The maximum number of operations. Without one the search ends as well: it has reached everything. */
const depth = caseCount(6, Number.POSITIVE_INFINITY)

describe("Every sequence of settlement", { timeout: 300_000 }, () => {
  it("adds up after each operation, on two invoices, two payments and two credit notes", async () => {
    const done = new Set<string>()
    let count = 0
    for (const reached of searchSettlements({ depth })) {
      assert.deepStrictEqual(explainViolations(reached), [])
      const last = reached.calls.at(-1)
      if (last !== undefined) done.add(last.operation)
      count += 1
      // Vitest expects to hear from its worker.
      if (count % 1000 === 0) await setImmediate()
    }
    const names = operations.map(({ name }) => name)
    assert.sameMembers([...done], names)
  })

  it("is searched as if all invoices, payments and notes had names of their own", () => {
    const exactState = ({ contract, invoices, journal, notes, payments }: Accounts) =>
      JSON.stringify([
        contract,
        ...[invoices, payments, notes, journal.invoices, journal.unused].map((all) => [...all])
      ])
    const canonical = (stateOf: typeof canonicalState) => {
      const reached = [...searchSettlements({ depth: 4, stateOf })]
      return { count: reached.length, states: new Set(reached.map(({ accounts }) => canonicalState(accounts))) }
    }
    const [merged, exact] = [canonical(canonicalState), canonical(exactState)]
    assert.deepStrictEqual(merged.states, exact.states)
    assert.isAbove(exact.count, 2 * merged.count)
  })
})

/** What this guard prevents takes most operations. */
const last = "void an invoice: nothing credited"

describe("The search of settlements", () => {
  it.each(guardNames.filter((name) => name !== last))("finds what the guard '%s' prevents", (without) => {
    const lines = findShortestViolation({ depth: 6, without })
    assert.match(lines.at(-1) ?? "", /^=> /)
  })

  it(`finds what the guard '${last}' prevents, and prints the shortest sequence`, () => {
    assert.deepStrictEqual(findShortestViolation({ depth: 6, without: last }), [
      "finalize invoice A",
      "pay invoice A with payment 1",
      "finalize credit note 1 on all that is left of invoice A",
      "refund 120 of credit note 1",
      "reverse payment 1",
      "void invoice A",
      "=> invoice A is VOID, but credit note 1 credits it"
    ])
  })
})
