import { assert, describe, it } from "vitest"
import { applyEdits, mutantsOf } from "../support/mutation/sql/mutants.ts"
import { findTemplates, instrument } from "../support/mutation/sql/templates.ts"

/** The mutants of a statement, in which $ stands for an expression. */
const mutate = (statement: string) => {
  const parts = statement.split("$")
  return mutantsOf(parts).map((edits) => applyEdits(parts, edits).join("$"))
}

describe("Mutants of SQL", () => {
  it.each([
    ["a < $", ["a <= $"]],
    ["a >= b", ["a > b"]],
    ["a = $ and b", ["a <> $ and b", "a = $ or b"]],
    ["a or b", ["a and b"]],
    ["not exists (select)", [" exists (select)"]],
    ["a is null", ["a is not null"]],
    ["a is not null", ["a is  null"]],
    ["a is distinct from $", ["a is not distinct from $"]],
    ["status in ('A', 'B', 'C')", ["status in ( 'B', 'C')", "status in ('A' , 'C')", "status in ('A', 'B' )"]],
    [
      "coalesce($, f(b, c))",
      ["(case when true then($) else coalesce( f(b, c)) end)", "(case when false then($) else coalesce( f(b, c)) end)"]
    ],
    ["a + interval '$ days'", ["a + 2 * interval '$ days'"]],
    ["due_at < now()", ["due_at <= now()", "due_at + interval '1 hour' < now()", "due_at - interval '1 hour' < now()"]],
    [
      "$ > i.booked_at",
      ["$ >= i.booked_at", "$ > i.booked_at + interval '1 hour'", "$ > i.booked_at - interval '1 hour'"]
    ],
    ["a between $ and $ and b", ["a between $ and $ or b"]]
  ])("of %s are what is a little different", (statement, expected) => {
    assert.deepStrictEqual(mutate(statement), expected)
  })

  it.each([
    "-- a < b and c",
    "/* a < b */",
    `select 'a < b and c' as "x = y"`,
    "update t set a = 1, b = $, c = (select 1)",
    "a = $, b = 2",
    "with a as not materialized (select 1)",
    "in ($) and_more",
    "data->>'a', a::text, make(secs => 1)"
  ])("do not change %s", (statement) => {
    assert.deepStrictEqual(mutate(statement), [])
  })

  it("change only the conditions of an update", () => {
    assert.deepStrictEqual(mutate("update t set a = case when b = $ then 1 end, c = 2 where d = $"), [
      "update t set a = case when b <> $ then 1 end, c = 2 where d = $",
      "update t set a = case when b = $ then 1 end, c = 2 where d <> $"
    ])
  })
})

describe("Statements of a source file", () => {
  const source = `
    const isOpen = "status in ('A', 'B')"
    const name = \`lock \${a} and \${b}\`
    const rows = (x: string) => sql<Row>\`select \${sql\`a < \${x}\`} from t where \${sql.literal(\`b = c\`)}\``
  const templates = findTemplates("file.ts", source)

  it("are what sql tags, and texts that read like SQL", () => {
    assert.deepStrictEqual(
      templates.map(({ parts }) => parts),
      [["status in ('A', 'B')"], ["select ", " from t where ", ""], ["a < ", ""], ["b = c"]]
    )
  })

  it("have hooks that know where they are", () => {
    const [isOpen, rows, fragment, literal] = templates.map(({ id }) => JSON.stringify(id))
    const hooks = "globalThis.sqlMutation"
    assert.strictEqual(
      instrument(source, templates),
      `
    const isOpen = ${hooks}.text(${isOpen})\`status in ('A', 'B')\`
    const name = \`lock \${a} and \${b}\`
    const rows = (x: string) => ${hooks}.tag(sql, ${rows})<Row>\`select \${${hooks}.tag(sql, ${fragment})\`a < \${x}\`} from t where \${sql.literal(${hooks}.text(${literal})\`b = c\`)}\``
    )
  })
})
