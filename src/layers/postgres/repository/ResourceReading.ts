import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound } from "../../../domain/Errors.ts"
import type { Window } from "../../../domain/Paging.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { columnOf, present, type Row, type Shape, selectList } from "./Columns.ts"
import { makeKeyset } from "./Keyset.ts"
import type { Versioned } from "./ResourceSpec.ts"

/** Texts that fields of a list's items must hold. */
type Filter<A> = { readonly [K in keyof A as A[K] extends string | undefined ? K : never]?: string | undefined }

/** Which rows of a table are the tenant's. The table is called "this" in every statement. */
export interface Scope {
  readonly tenantColumn: string
  readonly visible: string
}

/** How the resources of a table are read, each as the API shows it. */
export const makeReading = <A>(sql: SqlClient.SqlClient, shape: Shape, { tenantColumn, visible }: Scope) => {
  const table = sql.literal(shape.table)
  const columns = sql.literal(selectList(shape))
  const everything = sql.literal("true")
  const { after, inOrder } = makeKeyset(sql, shape)

  // The columns are named after the schema's fields, and the table checks their values.
  const read = (row: Row) => present(row) as A

  const inTenant = (tenant: string) => sql`this.${sql.literal(tenantColumn)} = ${tenant} and ${sql.literal(visible)}`

  /** The resources that `source`, everything behind "from", brings up. */
  const select = (source: Fragment) =>
    Effect.map(Effect.orDie(sql<Row>`select ${columns} from ${source}`), (rows) => rows.map(read))

  const selectInTenant = (filter: Fragment, rest: Fragment) =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      select(sql`${table} this where ${inTenant(tenant)} and ${filter} ${rest}`)
    )

  /** The rows whose fields have these values; one that is undefined does not matter. */
  const having = (values: Filter<A>) =>
    Object.entries<string | undefined>(values).reduce<Fragment>(
      (filter, [name, value]) =>
        value === undefined ? filter : sql`${filter} and this.${sql.literal(columnOf(shape, name))} = ${value}`,
      everything
    )

  const versions = (filter: Fragment, rest: Fragment) =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<Row & { sequence: number }>`
        select ${columns}, this.sequence from ${table} this where ${inTenant(tenant)} and ${filter} ${rest}`)
    ).pipe(
      Effect.map((rows) =>
        rows.map(({ sequence, ...fields }) => ({ sequence, value: read(fields) }) satisfies Versioned<A>)
      )
    )

  const one = (lock: string) => (id: string) =>
    Effect.flatMap(versions(sql`this.id = ${id}`, sql.literal(lock)), ([version]) =>
      version === undefined ? Effect.fail(new NotFound()) : Effect.succeed(version)
    )

  return {
    read,
    select,
    inTenant,

    /** The newest version, and the newest version held against every other writer until the transaction ends. */
    current: one(""),
    held: one("for update of this"),

    /** The newest version, held after the row that `first` selects and holds, and that row. */
    heldAfter: <B>(first: Fragment, id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Row & { sequence: number; first: B }>`
          with first as materialized (${first})
          select ${columns}, this.sequence, row_to_json(first) as first from first, ${table} this
          where ${inTenant(tenant)} and this.id = ${id} for update of this`)
      ).pipe(
        Effect.flatMap(([row]) => {
          if (row === undefined) return Effect.fail(new NotFound())
          const { first, sequence, ...fields } = row
          return Effect.succeed({ first, held: { sequence, value: read(fields) } satisfies Versioned<A> })
        })
      ),

    /** All that match, in order. */
    all: (filter: Filter<A>) => versions(having(filter), inOrder),

    /** One page and, when there is more, one row beyond it. */
    page: ({ after: start, limit }: Window, filter: Filter<A> = {}, more: Fragment = everything) =>
      selectInTenant(sql`${having(filter)} and ${more} and ${after(start)}`, sql`${inOrder} limit ${limit + 1}`)
  }
}

export type Reading<A> = ReturnType<typeof makeReading<A>>
