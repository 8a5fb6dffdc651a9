import { assert, it } from "vitest"
import { readPage, sectionOf, tableRowsOf } from "../support/assertions/docs.ts"

const { dependencies, devDependencies } = JSON.parse(readPage("package.json"))

/** Types, and what another package requires, need no reason of their own. */
const isExplained = (name: string) => !name.startsWith("@types/") && name !== "@effect/experimental"

it("docs/architecture.md says what each package is for, and lists no other", () => {
  const [, ...rows] = tableRowsOf(sectionOf("docs/architecture.md", "Packages"))
  const listed = rows.flatMap(([names = ""]) => names.split(", "))
  const used = Object.keys({ ...dependencies, ...devDependencies }).filter(isExplained)
  assert.deepStrictEqual(listed.sort(), used.sort())
})
