import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, type Schema } from "effect"
import { CurrentTenant, IfMatch } from "../../domain/Caller.ts"
import { NotFound, PreconditionFailed } from "../../domain/Errors.ts"
import { etagOf } from "../../domain/Etag.ts"
import { prefixOf } from "../../domain/Ids.ts"
import type { Position, Window } from "../../domain/Paging.ts"
import { newId } from "../Ids.ts"
import { arranged, initialValues, present, rowOf, type Shape, selectList } from "./Columns.ts"
import { recording } from "./EventLog.ts"
import { atomically } from "./Transaction.ts"
import { refusing } from "./Violations.ts"

/** The fields of an entity, its identifier among them. */
type Identified = Schema.Struct.Fields & { readonly id: Schema.Schema.All }

interface Stamped {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** A resource as read, with the number of its last event: whoever writes next must have seen that one. */
export interface Versioned<A> {
  readonly value: A
  readonly sequence: number
}

interface Spec<A, F extends Identified, Computed extends string> extends Omit<Shape, "fields" | "computed"> {
  readonly computed?: Readonly<Record<Computed, { readonly expression: string; readonly initial: unknown }>>
  /** What events call it. */
  readonly name: string
  readonly entity: Schema.Struct<F> & { readonly Type: A }
  /** The client an event about this resource belongs to. */
  readonly clientOf?: (entity: A) => string | undefined
  /** The column that holds the tenant, and the rows that count as there, where these are not the usual. */
  readonly tenantColumn?: string
  readonly visible?: string
  /** What removes a row, where that is not a delete. */
  readonly removal?: string
}

const now = Effect.sync(() => new Date().toISOString())

/**
 * What every resource of a tenant can do, over one table: list, read, create, change and remove, each write together
 * with its event in one statement. A change is made to the version that was read and lands only if that is still the
 * newest; otherwise the row is locked and the change made again, so that nobody loses twice.
 */
export const resource = <A extends Stamped, F extends Identified, const Computed extends string = never>(
  spec: Spec<A, F, Computed>
) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const shape: Shape = { ...spec, computed: spec.computed ?? {}, fields: spec.entity.fields }
    const table = sql.literal(spec.table)
    const columns = sql.literal(selectList(shape))
    const refuse = refusing(spec.table)
    const changed = recording(sql, sql.literal("changed"))
    const position = sql.literal("order" in shape.fields ? `coalesce(this."order", 9223372036854775807)` : "0::bigint")

    // The columns were named after the schema's fields and the table checks their values.
    const read = (row: object) => present({ ...row }) as unknown as A
    const everything = sql.literal("true")
    const tenantColumn = spec.tenantColumn ?? "tenant_id"
    const inTenant = (tenant: string) =>
      sql`this.${sql.literal(tenantColumn)} = ${tenant} and ${sql.literal(spec.visible ?? "true")}`

    /** The resources that `source` (everything behind "from", where the table is called "this") brings up. */
    const select = (source: Fragment) =>
      Effect.orDie(sql<object>`select ${columns} from ${source}`).pipe(Effect.map((rows) => rows.map(read)))

    const selectInTenant = (filter: Fragment, rest: Fragment) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        select(sql`${table} this where ${inTenant(tenant)} and ${filter} ${rest}`)
      )

    const after = (start: Position | undefined) =>
      start === undefined
        ? everything
        : sql`(${position}, this.id) > (coalesce(${start.order ?? null}::bigint, 9223372036854775807), ${start.id})`

    const readOne = (lock: Fragment) =>
      Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const [row] = yield* Effect.orDie(sql<object & { sequence: number }>`
          select ${columns}, this.sequence from ${table} this where ${inTenant(tenant)} and this.id = ${id} ${lock}`)
        if (row === undefined) return yield* Effect.fail(new NotFound())
        const { sequence, ...fields } = row
        return { sequence, value: read(fields) } satisfies Versioned<A>
      })
    const current = readOne(sql.literal(""))
    const held = readOne(sql.literal("for update of this"))

    /** What an event says of the resource: who it belongs to, which in line it is, and how the resource looked. */
    const happening = (tenant: string, type: string, value: A, sequence: number, at: string) => ({
      tenant,
      type,
      resource: value.id,
      client: spec.clientOf?.(value),
      sequence,
      at,
      data: value
    })

    const create = Effect.fnUntraced(function* (fields: Omit<A, keyof Stamped | Computed>, givenId?: string) {
      const tenant = yield* CurrentTenant
      const at = yield* now
      const id = givenId ?? (yield* newId(prefixOf(spec.entity.fields.id)))
      const entity = { ...initialValues(shape), ...fields, id, createdAt: at, updatedAt: at }
      const value = read(arranged(shape, entity))
      const event = yield* changed(happening(tenant, `${spec.name}.created`, value, 1, at))
      yield* refuse(sql`
        with changed as (
          insert into ${table} ${sql.insert({ [tenantColumn]: tenant, ...rowOf(shape, entity), sequence: 1 })} returning 1
        ) ${event}`)
      return value
    })

    /** Lands only on the version it was made from; tells whether it did. */
    const write = (tenant: string, seen: Versioned<A>, effect: Fragment, event: Fragment) =>
      refuse(sql<object>`
        with changed as (
          ${effect} where ${inTenant(tenant)} and this.id = ${seen.value.id} and this.sequence = ${seen.sequence}
          returning 1
        ), event as (${event})
        select 1 from changed`).pipe(Effect.map((rows) => rows.length === 1))

    const unchanged = (value: A) =>
      Effect.flatMap(IfMatch, (tags) =>
        tags === undefined || tags.includes("*") || tags.includes(etagOf(value))
          ? Effect.void
          : Effect.fail(new PreconditionFailed())
      )

    /** Decides on the newest version. Whoever was overtaken while deciding holds the row and decides again. */
    const onNewest = <B, E, R>(id: string, attempt: (seen: Versioned<A>) => Effect.Effect<B | undefined, E, R>) => {
      const decide = (reading: typeof current) =>
        reading(id).pipe(
          Effect.tap(({ value }) => unchanged(value)),
          Effect.flatMap(attempt)
        )
      return decide(current).pipe(
        Effect.flatMap((done) => (done === undefined ? atomically(sql)(decide(held)) : Effect.succeed(done))),
        Effect.flatMap((done) =>
          done === undefined ? Effect.dieMessage("a row held was overtaken") : Effect.succeed(done)
        )
      )
    }

    /** Changes one resource to what `change` makes of its newest version. */
    const revise = <E, R>(id: string, change: (value: A) => Effect.Effect<Omit<A, keyof Stamped>, E, R>) =>
      onNewest(
        id,
        Effect.fnUntraced(function* (seen) {
          const tenant = yield* CurrentTenant
          const at = yield* now
          const next = {
            ...(yield* change(seen.value)),
            id: seen.value.id,
            createdAt: seen.value.createdAt,
            updatedAt: at
          }
          const value = read(arranged(shape, next))
          const event = yield* changed(happening(tenant, `${spec.name}.updated`, value, seen.sequence + 1, at))
          const row = { ...rowOf(shape, next), sequence: seen.sequence + 1 }
          const landed = yield* write(tenant, seen, sql`update ${table} this set ${sql.update(row)}`, event)
          return landed ? value : undefined
        })
      )

    return {
      current,
      create,
      revise,
      select,

      get: (id: string) => Effect.map(current(id), ({ value }) => value),

      list: (filter: Fragment = everything) => selectInTenant(filter, sql`order by ${position}, this.id`),

      /** One page and, when there is more, one row beyond it. */
      page: ({ after: start, limit }: Window, filter: Fragment = everything) =>
        selectInTenant(sql`${filter} and ${after(start)}`, sql`order by ${position}, this.id limit ${limit + 1}`),

      /** Sets the fields a PATCH names; null takes one away. */
      patch: (id: string, change: object) => revise(id, (value) => Effect.succeed({ ...value, ...change })),

      remove: (id: string) =>
        onNewest(
          id,
          Effect.fnUntraced(function* (seen) {
            const tenant = yield* CurrentTenant
            const at = yield* now
            const event = yield* changed(happening(tenant, `${spec.name}.deleted`, seen.value, seen.sequence + 1, at))
            return (yield* write(tenant, seen, sql.literal(spec.removal ?? `delete from ${spec.table} this`), event))
              ? true
              : undefined
          })
        ).pipe(Effect.asVoid)
    }
  })
