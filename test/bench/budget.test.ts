import { assert, describe, it } from "vitest"
import { isBudgeted } from "../../bench/budget/budgetBenchmark.ts"
import { describeDifferences, type Figures, readBudgets, updateBudgets } from "../../bench/budget/figures.ts"
import { rows } from "../../bench/rows.ts"

const figures: Figures = { statements: 2, exchanges: 1, allocatedKiB: 100 }

describe("The budget of a request", () => {
  it("holds while statements and exchanges are the same and allocations differ by 5 % at most", () => {
    assert.deepStrictEqual(describeDifferences(figures, figures), [])
    assert.deepStrictEqual(describeDifferences(figures, { ...figures, allocatedKiB: 105 }), [])
    assert.deepStrictEqual(describeDifferences(figures, { ...figures, allocatedKiB: 95 }), [])
  })

  it("is broken by one statement or exchange more or less, and by 6 % of the allocations", () => {
    assert.deepStrictEqual(describeDifferences(figures, { ...figures, statements: 3 }), ["statements 2 → 3"])
    assert.deepStrictEqual(describeDifferences(figures, { ...figures, statements: 1 }), ["statements 2 → 1"])
    assert.deepStrictEqual(describeDifferences(figures, { statements: 2, exchanges: 2, allocatedKiB: 106 }), [
      "exchanges 1 → 2",
      "allocatedKiB 100 → 106"
    ])
    assert.deepStrictEqual(describeDifferences(figures, { ...figures, allocatedKiB: 94 }), ["allocatedKiB 100 → 94"])
  })

  it("gets a reason beside figures that rose, and loses it when they fall", () => {
    const raised = updateBudgets({ row: figures }, new Map([["row", { ...figures, statements: 3 }]]), "a lock")
    assert.deepStrictEqual(raised, { row: { ...figures, statements: 3, because: "a lock" } })
    assert.deepStrictEqual(updateBudgets(raised, new Map([["row", { ...figures, statements: 3 }]]), "other"), raised)
    assert.deepStrictEqual(updateBudgets(raised, new Map([["row", figures]]), "less"), { row: figures })
  })

  it("exists for every row of the benchmark that has one", () => {
    const names = rows.filter(isBudgeted).map(({ name }) => name)
    assert.deepStrictEqual(Object.keys(readBudgets()).toSorted(), names.toSorted())
  })
})
