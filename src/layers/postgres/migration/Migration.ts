import { statementsOf } from "./Statements.ts"

export interface Migration {
  readonly id: number
  readonly name: string
  readonly text: string
  /** What PostgreSQL refuses inside a transaction, such as `create index concurrently`, runs outside of one. */
  readonly isTransactional: boolean
}

/** A file `0012_what_it_does.sql`. Its first line is `-- no transaction` if its statements run one by one. */
export const migrationOf = (file: string, text: string): Migration => {
  const [, id, name] = /^(\d+)_(\w+)\.sql$/.exec(file) ?? []
  if (id === undefined || name === undefined) throw new Error(`${file} is not named like 0012_what_it_does.sql`)
  return { id: Number(id), name, text, isTransactional: !/^-- no transaction\b/.test(text) }
}

export const fileOf = ({ id, name }: Pick<Migration, "id" | "name">) => `${String(id).padStart(4, "0")}_${name}.sql`

/** The indexes that a migration builds concurrently. One that is interrupted leaves an invalid index of its name. */
export const concurrentIndexesOf = ({ text }: Migration) =>
  statementsOf(text).flatMap(
    (statement) => /\bindex\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)\s+on\b/i.exec(statement)?.[1] ?? []
  )
