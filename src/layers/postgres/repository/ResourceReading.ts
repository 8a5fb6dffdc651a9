import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound } from "../../../domain/Errors.ts"
import type { Window } from "../../../domain/Paging.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { columnOf, present, type Row, type Shape, selectList } from "./Columns.ts"
import { makeKeyset } from "./Keyset.ts"
import type { Versioned } from "./ResourceSpec.ts"

/** Equality filter on string fields. */
type Filter<A> = { readonly [K in keyof A as A[K] extends string | undefined ? K : never]?: string | undefined }

/** Restricts a table to the visible rows of a tenant. Statements alias the table as "this". */
export interface Scope {
  readonly tenantColumn: string
  readonly visible: string
}

/** Reads the resources of a table. */
export const makeReading = <A>(sql: SqlClient.SqlClient, shape: Shape, { tenantColumn, visible }: Scope) => {
  const table = sql.literal(shape.table)
  const columns = sql.literal(selectList(shape))
  const noFilter = sql.literal("true")
  const { after, inOrder } = makeKeyset(sql, shape)

  // The columns are named after the schema's fields, and the table checks their values.
  const read = (row: Row) => present(row) as A

  const inTenant = (tenant: string) => sql`this.${sql.literal(tenantColumn)} = ${tenant} and ${sql.literal(visible)}`

  /** `source` is everything after `from`. */
  const select = (source: Fragment) =>
    Effect.map(Effect.orDie(sql<Row>`select ${columns} from ${source}`), (rows) => rows.map(read))

  const selectInTenant = (filter: Fragment, rest: Fragment) =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      select(sql`${table} this where ${inTenant(tenant)} and ${filter} ${rest}`)
    )

  /** Undefined values are not compared. */
  const matching = (values: Filter<A>) =>
    Object.entries<string | undefined>(values).reduce<Fragment>(
      (filter, [name, value]) =>
        value === undefined ? filter : sql`${filter} and this.${sql.literal(columnOf(shape, name))} = ${value}`,
      noFilter
    )

  const selectVersions = (filter: Fragment, rest: Fragment) =>
    Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<Row & { sequence: number }>`
        select ${columns}, this.sequence from ${table} this where ${inTenant(tenant)} and ${filter} ${rest}`)
    ).pipe(
      Effect.map((rows) =>
        rows.map(({ sequence, ...fields }) => ({ sequence, value: read(fields) }) satisfies Versioned<A>)
      )
    )

  const findOne = (lockClause: string) => (id: string) =>
    Effect.flatMap(selectVersions(sql`this.id = ${id}`, sql.literal(lockClause)), ([version]) =>
      version === undefined ? Effect.fail(new NotFound()) : Effect.succeed(version)
    )

  return {
    read,
    select,
    inTenant,

    /** The current version, without and with a row lock until the end of the transaction. */
    current: findOne(""),
    held: findOne("for update of this"),

    /** Locks the row that `first` selects, then this resource, in one statement. Returns both. */
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

    /** All matching resources, in list order. */
    all: (filter: Filter<A>) => selectVersions(matching(filter), inOrder),

    /** One page, plus one row if there are more. */
    page: ({ after: start, limit }: Window, filter: Filter<A> = {}, more: Fragment = noFilter) =>
      selectInTenant(sql`${matching(filter)} and ${more} and ${after(start)}`, sql`${inOrder} limit ${limit + 1}`)
  }
}

export type Reading<A> = ReturnType<typeof makeReading<A>>
