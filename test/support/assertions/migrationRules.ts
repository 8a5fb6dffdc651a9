import { type Migration, migrationFileName } from "../../../src/layers/infra/postgres/migration/Migration.ts"
import { splitStatements, stripComments } from "../../../src/layers/infra/postgres/migration/SqlStatements.ts"

/** The context of a statement: tables that its file creates, which nobody uses yet, and earlier statements. */
interface MigrationContext {
  readonly isNew: (table: string) => boolean
  readonly hasDdl: boolean
  readonly earlier: ReadonlyArray<string>
}

type Rule = (statement: string, around: MigrationContext) => string | undefined

const addNotValid = "add it as not valid, and validate it in a later file with -- no transaction"
const concurrently = "build it concurrently, in a file with -- no transaction as its first line"
const expandFirst =
  "the previous release still uses it: stop using it in one release, and drop it in the next (-- accepted: <reason>)"

/** The actions of an `alter table`, which commas outside of parentheses separate. */
const actionsOf = (text: string) => {
  let depth = 0
  const actions = [""]
  for (const letter of text) {
    if (letter === "(") depth += 1
    if (letter === ")") depth -= 1
    if (letter === "," && depth === 0) actions.push("")
    else actions.push(actions.pop() + letter)
  }
  return actions.map((action) => action.trim())
}

/** Stable functions: PostgreSQL evaluates them once per statement, without a table rewrite. */
const stable = /\b(now|current_timestamp|transaction_timestamp|statement_timestamp|to_timestamp|make_interval)\b/g

const findColumnError = (definition: string) => {
  const fallback = /\bdefault\b(.*)$/.exec(definition)?.[1]
  if (/\b(small|big)?serial\b|\bgenerated\b/.test(definition)) {
    return "the whole table is rewritten: add a plain column, and fill it in batches"
  }
  if (fallback !== undefined && /\w\s*\(/.test(fallback.replace(/\bcheck\b.*/, "").replace(stable, ""))) {
    return "a volatile default rewrites the whole table: add the column without it, set the default, fill it in batches"
  }
  if (/\bcheck\b|\breferences\b/.test(definition)) return `the whole table is read for it: ${addNotValid}`
  if (/\bunique\b|\bprimary key\b/.test(definition)) return `it builds an index: ${concurrently}`
  return /\bnot null\b/.test(definition) && fallback === undefined
    ? "the previous release inserts rows without it: give it a default"
    : undefined
}

const findConstraintError = (definition: string) => {
  if (/\b(unique|primary key)\b/.test(definition) && !/\busing index\b/.test(definition)) {
    return `it builds an index: ${concurrently}, then add the constraint using index`
  }
  return /\b(check|foreign key|exclude)\b/.test(definition) && !/\bnot valid\b/.test(definition)
    ? `the whole table is read for it: ${addNotValid}`
    : undefined
}

const isCheckedBefore = (table: string, column: string, earlier: ReadonlyArray<string>) =>
  earlier.some((statement) => {
    const name = new RegExp(`add constraint (\\w+) check \\(+ ?${column} is not null`).exec(statement)?.[1]
    return name !== undefined && earlier.includes(`alter table ${table} validate constraint ${name}`)
  })

const findActionError = (table: string, action: string, { earlier }: MigrationContext) => {
  const column = /^alter (?:column )?(\w+) (.*)$/.exec(action)
  if (/^add constraint\b/.test(action)) return findConstraintError(action)
  if (/^add (check|foreign key|unique|primary key|exclude)\b/.test(action)) return "give the constraint a name"
  if (/^add\b/.test(action)) return findColumnError(action)
  if (/^validate constraint\b/.test(action))
    return "validate it in a file with -- no transaction, which keeps no other lock"
  if (/^rename\b/.test(action)) return `add the new name beside the old one; ${expandFirst}`
  if (/^drop (?!constraint\b)/.test(action)) return expandFirst
  if (/^set (logged|unlogged|tablespace)\b/.test(action)) return "the whole table is rewritten"
  if (column === null) return undefined
  const [, name = "", change = ""] = column
  if (/^(set data )?type\b/.test(change)) {
    return "the whole table is rewritten or read: add a column of the new type, write both, and fill it in batches"
  }
  if (/^drop default\b/.test(change)) return expandFirst
  return /^set not null\b/.test(change) && !isCheckedBefore(table, name, earlier)
    ? `the whole table is read for it: first check (${name} is not null) not valid, then validate that in a file of its own`
    : undefined
}

const rules: ReadonlyArray<Rule> = [
  (statement, { isNew }) => {
    const table = /^create (?:unique )?index .*?\bon (?:only )?(\w+)/.exec(statement)?.[1]
    if (/\bconcurrently\b/.test(statement)) return "this needs -- no transaction as the first line of its file"
    return table !== undefined && !isNew(table) ? `writers wait until the index is built: ${concurrently}` : undefined
  },
  (statement, context) => {
    const [, table = "", actions = ""] = /^alter table (?:if exists )?(?:only )?(\w+) (.*)$/.exec(statement) ?? []
    if (table === "" || context.isNew(table)) return undefined
    return actionsOf(actions)
      .map((action) => findActionError(table, action, context))
      .find((error) => error !== undefined)
  },
  (statement) =>
    /^drop (table|view|materialized view|function|trigger|type|sequence|schema)\b/.test(statement)
      ? expandFirst
      : undefined,
  (statement) =>
    /^drop index\b/.test(statement) ? "drop index concurrently, in a file with -- no transaction" : undefined,
  (statement) =>
    /^(lock|vacuum|cluster|reindex|truncate|refresh materialized view)\b/.test(statement)
      ? "it locks the whole table for as long as it takes"
      : undefined,
  (statement) =>
    /^do\b/.test(statement)
      ? "nobody can see what it locks: write plain statements (or -- accepted: <reason>)"
      : undefined,
  (statement, { hasDdl, isNew }) => {
    const [, table = ""] = /^(?:update (?:only )?|delete from (?:only )?|insert into )(\w+)/.exec(statement) ?? []
    const from = [...statement.matchAll(/\b(?:from|join) (\w+)/g)].map(([, name = ""]) => name)
    const isLong = /^insert into/.test(statement) ? from.some((name) => !isNew(name)) : table !== "" && !isNew(table)
    return hasDdl && isLong
      ? "the locks of the other statements are kept until all rows are done: move it to a file of its own, or into a worker"
      : undefined
  }
]

const repeatable =
  /^(create (unique )?index concurrently if not exists|drop index concurrently if exists|reindex \(?.*concurrently|alter table (if exists )?\w+ validate constraint|analyze|vacuum (?!.*\bfull\b))/

const findNonTransactionalError = (statement: string) =>
  repeatable.test(statement)
    ? undefined
    : "outside of a transaction it cannot be undone and waits for locks without limit: only statements that take weak locks " +
      "and may run again (create index concurrently if not exists, drop index concurrently if exists, validate constraint)"

const isDdl = (statement: string) => /^(create|alter|drop)\b/.test(statement)

/** An explicit exception, which must state a reason. */
const isAccepted = (statement: string) => /^\s*-- accepted: \S+/m.test(statement)

/** The statements that are unsafe on a live system, and what to do instead. `earlier` are the previous migrations. */
export const findMigrationErrors = (
  migration: Migration,
  earlier: ReadonlyArray<Migration> = []
): ReadonlyArray<string> => {
  const statements = splitStatements(migration.text).map((text) => ({ text, plain: stripComments(text).toLowerCase() }))
  const newTables = new Set(
    statements.flatMap(({ plain }) => /^create (?:\w+ )?table (?:if not exists )?(\w+)/.exec(plain)?.[1] ?? [])
  )
  const context: MigrationContext = {
    isNew: (table) => newTables.has(table),
    hasDdl: statements.some(({ plain }) => isDdl(plain)),
    earlier: earlier.flatMap(({ text }) =>
      splitStatements(text).map((statement) => stripComments(statement).toLowerCase())
    )
  }
  const findError = (statement: string) =>
    migration.isTransactional
      ? rules.map((rule) => rule(statement, context)).find((error) => error !== undefined)
      : findNonTransactionalError(statement)
  return statements.flatMap(({ plain, text }) => {
    const error = isAccepted(text) ? undefined : findError(plain)
    return error === undefined ? [] : [`${migrationFileName(migration)}: ${plain.slice(0, 80)}: ${error}`]
  })
}
