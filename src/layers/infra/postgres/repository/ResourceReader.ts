import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound } from "../../../../domain/Errors.ts"
import type { PageRequest } from "../../../../domain/Paging.ts"
import { CurrentTenant } from "../../../../domain/tenancy/RequestContext.ts"
import { columnOf, omitNulls, type Row, selectList, type TableShape } from "./Columns.ts"
import { makeKeyset, type SortKeys } from "./Keyset.ts"
import type { Versioned } from "./ResourceSpec.ts"

/** Equality filter on string fields. */
type Filter<A> = { readonly [K in keyof A as A[K] extends string | undefined ? K : never]?: string | undefined }

/** Restricts a table to the visible rows of a tenant. Statements alias the table as "this". */
export interface TenantScope {
  readonly tenantColumn: string
  readonly visible: string
}

/** Reads the resources of a table. */
export const makeResourceReader = <A>(
  sql: SqlClient.SqlClient,
  shape: TableShape,
  { tenantColumn, visible }: TenantScope,
  sorts: SortKeys = {}
) => {
  const table = sql.literal(shape.table)
  const columns = sql.literal(selectList(shape))
  const noFilter = sql.literal("true")
  const keysetOf = makeKeyset(sql, shape, sorts)

  // The columns are named after the schema's fields, and the table checks their values.
  const read = (row: Row) => omitNulls(row) as A

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
    getVersion: findOne(""),
    lockForUpdate: findOne("for update of this"),

    /**
     * Locks the row that `first` selects, then this resource, in one statement. Returns both, and `hiddenColumn`, a
     * column of the resource without a field.
     */
    lockForUpdateAfter: <B, C>(first: Fragment, id: string, hiddenColumn: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Row & { sequence: number; first: B; hidden: C }>`
          with first as materialized (${first})
          select ${columns}, this.sequence, row_to_json(first) as first, this.${sql.literal(hiddenColumn)} as hidden
          from first, ${table} this
          where ${inTenant(tenant)} and this.id = ${id} for update of this`)
      ).pipe(
        Effect.flatMap(([row]) => {
          if (row === undefined) return Effect.fail(new NotFound())
          const { first, hidden, sequence, ...fields } = row
          return Effect.succeed({ first, hidden, locked: { sequence, value: read(fields) } satisfies Versioned<A> })
        })
      ),

    /**
     * Locks the row that `first` selects, then these resources by id, in one statement. Returns both, and of each
     * resource `hiddenColumn`, a column without a field. Returns nothing if there is no such row, or no such resource.
     */
    lockAllAfter: <B, C>(first: Fragment, ids: ReadonlyArray<string>, hiddenColumn: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Row & { sequence: number; first: B; hidden: C }>`
          with first as materialized (${first})
          select ${columns}, this.sequence, row_to_json(first) as first, this.${sql.literal(hiddenColumn)} as hidden
          from first, ${table} this
          where ${inTenant(tenant)} and this.id in (select json_array_elements_text(${JSON.stringify(ids)}::json))
          order by this.id for no key update of this`)
      ).pipe(
        Effect.map((rows) =>
          rows.map(({ first, hidden, sequence, ...fields }) => ({
            first,
            hidden,
            locked: { sequence, value: read(fields) } satisfies Versioned<A>
          }))
        )
      ),

    /** Locks the first resources by id that meet a condition. */
    lockWhere: (condition: Fragment, limit: number) =>
      selectVersions(condition, sql`order by this.id limit ${limit} for no key update of this`),

    /** All matching resources, in list order. */
    listAll: (filter: Filter<A>) => selectVersions(matching(filter), keysetOf(undefined).orderBy),

    /**
     * One page in the order of creation. No update changes it, so that a walk over all pages finds each row once, also
     * when rows change meanwhile.
     */
    pageByAge: (after: string | undefined, limit: number) =>
      selectInTenant(sql`this.id > ${after ?? ""}`, sql`order by this.id limit ${limit}`),

    /** One page, plus one row if there are more. */
    page: ({ after: start, limit }: PageRequest, filter: Filter<A> = {}, more: Fragment = noFilter, sort?: string) => {
      const { after, orderBy } = keysetOf(sort)
      return selectInTenant(
        sql`${matching(filter)} and ${more} and ${after(start)}`,
        sql`${orderBy} limit ${limit + 1}`
      )
    }
  }
}

export type ResourceReader<A> = ReturnType<typeof makeResourceReader<A>>
