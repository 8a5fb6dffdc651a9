import { splitStatements, stripComments } from "./SqlStatements.ts"

export interface Migration {
  readonly id: number
  readonly name: string
  readonly text: string
  /** False for statements that PostgreSQL rejects inside a transaction, such as `create index concurrently`. */
  readonly isTransactional: boolean
}

/** Parses a file named `0012_what_it_does.sql`. A first line `-- no transaction` makes its statements run one by one. */
export const parseMigration = (file: string, text: string): Migration => {
  const [, id, name] = /^(\d+)_(\w+)\.sql$/.exec(file) ?? []
  if (id === undefined || name === undefined) throw new Error(`${file} is not named like 0012_what_it_does.sql`)
  return { id: Number(id), name, text, isTransactional: !/^-- no transaction\b/.test(text) }
}

export const migrationFileName = ({ id, name }: Pick<Migration, "id" | "name">) =>
  `${String(id).padStart(4, "0")}_${name}.sql`

/** The indexes that a migration builds concurrently. An interrupted build leaves an invalid index of that name. */
export const concurrentIndexesOf = ({ text }: Migration) =>
  splitStatements(text).flatMap(
    (statement) => /\bindex\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)\s+on\b/i.exec(statement)?.[1] ?? []
  )

const exclusiveStatement =
  /^(?:alter table (?:if exists )?(?:only )?|(?:create|drop) trigger .* on |create (?:unique )?index (?:if not exists )?\w+ on )(\w+)/i

const statementsOf = ({ text }: Pick<Migration, "text">) => splitStatements(text).map(stripComments)

/** The tables that the statements of a migration lock against writes. */
export const alteredTablesOf = (migration: Pick<Migration, "text">) => [
  ...new Set(statementsOf(migration).flatMap((statement) => exclusiveStatement.exec(statement)?.[1] ?? []))
]

/** The tables that foreign keys of a migration refer to. */
const referencedTablesOf = (migration: Pick<Migration, "text">) =>
  statementsOf(migration)
    .filter((statement) => /^(?:create|alter) table /i.test(statement))
    .flatMap((statement) => [...statement.matchAll(/\breferences (\w+)/gi)].map(([, table = ""]) => table))

export type TableLock = readonly [table: string, mode: "access exclusive" | "share row exclusive"]

/** The locks that the statements of a migration take, on tables that it creates as well. */
export const tableLocksOf = (migration: Pick<Migration, "text">): ReadonlyArray<TableLock> => [
  ...new Map<TableLock[0], TableLock[1]>([
    ...referencedTablesOf(migration).map((table) => [table, "share row exclusive"] as const),
    ...alteredTablesOf(migration).map((table) => [table, "access exclusive"] as const)
  ])
]
