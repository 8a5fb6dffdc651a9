import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"

/** What one request costs, in figures that are the same on every machine. */
export interface Figures {
  readonly statements: number
  readonly exchanges: number
  /** Allocated by the interpreter: compiled code allocates less, by an amount that depends on luck. */
  readonly allocatedKiB: number
}

interface Budget extends Figures {
  /** Why the figures are higher than they once were. */
  readonly because?: string
}

export type Budgets = Readonly<Record<string, Budget>>

const file = join(projectRoot, "bench", "budget", "budgets.json")

export const readBudgets = (): Budgets => JSON.parse(readFileSync(file, "utf8")) // a file of ours

export const writeBudgets = (budgets: Budgets) => writeFileSync(file, `${JSON.stringify(budgets, null, 2)}\n`)

/** Statements and exchanges repeat exactly. */
const tolerance = { statements: 0, exchanges: 0, allocatedKiB: 0.05 }

const names = ["statements", "exchanges", "allocatedKiB"] as const

/** How the figures differ from their budget, in words. */
export const describeDifferences = (budget: Budget | undefined, figures: Figures): ReadonlyArray<string> => {
  if (budget === undefined) return ["has no budget yet"]
  return names.flatMap((name) => {
    const [before, now] = [budget[name], figures[name]]
    const isWithin = Math.abs(now - before) <= before * tolerance[name]
    return isWithin ? [] : [`${name} ${before} → ${now}`]
  })
}

const isHigher = (budget: Budget | undefined, figures: Figures) =>
  budget !== undefined && names.some((name) => figures[name] > budget[name] * (1 + tolerance[name]))

/** The budgets with these figures. A reason stays until the figures fall. */
export const updateBudgets = (budgets: Budgets, measured: ReadonlyMap<string, Figures>, reason: string): Budgets => {
  const updated = [...measured].map(([row, figures]): readonly [string, Budget] => {
    const budget = budgets[row]
    if (budget !== undefined && describeDifferences(budget, figures).length === 0) return [row, budget]
    return [row, isHigher(budget, figures) ? { ...figures, because: reason } : figures]
  })
  return { ...budgets, ...Object.fromEntries(updated) }
}
