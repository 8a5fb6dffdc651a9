import { afterAll, afterEach, beforeAll, beforeEach, inject, type ProvidedContext, type RunnerTestSuite } from "vitest"
import { applyEdits, type Edits } from "./mutants.ts"

/** The templates that the tests of a file used. */
export interface UsedTemplates {
  /** While files were loaded. */
  readonly loaded: ReadonlyArray<string>
  /** Outside of the tests, for example to start the service. */
  readonly shared: ReadonlyArray<string>
  readonly tests: ReadonlyArray<{ readonly id: string; readonly millis: number; readonly used: ReadonlyArray<string> }>
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The mutant of this run and the tests to run with it, or null to run all with what the sources say. */
    sqlMutant: {
      readonly template: string
      readonly edits: Edits
      readonly tests: ReadonlyArray<string>
    } | null
  }
  export interface TaskMeta {
    usedTemplates?: UsedTemplates
  }
}

declare global {
  var sqlMutation: ReturnType<typeof makeHooks>
}

type Tag = (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => unknown

/** What the hooks of `instrument` call. */
const makeHooks = (mutant: ProvidedContext["sqlMutant"]) => {
  const used = new Set<string>()
  const change = (id: string, strings: TemplateStringsArray) => {
    used.add(id)
    if (id !== mutant?.template) return strings
    const parts = applyEdits(strings, mutant.edits)
    return Object.assign([...parts], { raw: parts })
  }
  return {
    used,
    tag:
      (tag: Tag, id: string): Tag =>
      (strings, ...values) =>
        tag(change(id, strings), ...values),
    text:
      (id: string) =>
      (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) =>
        String.raw({ raw: change(id, strings) }, ...values)
  }
}

// This file is loaded before each file of tests.
const mutant = inject("sqlMutant")
globalThis.sqlMutation = makeHooks(mutant)

const takeUsed = () => {
  const { used } = globalThis.sqlMutation
  const taken = [...used]
  used.clear()
  return taken
}
let loaded: ReadonlyArray<string> = []
const shared: Array<string> = []
const tests: Array<UsedTemplates["tests"][number]> = []
let startedAt = 0

beforeAll(() => {
  loaded = takeUsed()
})
beforeEach(({ skip, task }) => {
  shared.push(...takeUsed())
  if (mutant?.tests.includes(task.id) === false) skip()
  startedAt = performance.now()
})
afterEach(({ task }) => {
  tests.push({ id: task.id, millis: performance.now() - startedAt, used: takeUsed() })
})
afterAll(({ file }: Readonly<RunnerTestSuite>) => {
  file.meta.usedTemplates = { loaded, shared: [...shared, ...takeUsed()], tests }
})
