import type { Fragment } from "@effect/sql/Statement"
import type { Schema } from "effect"
import type { ResourceName } from "../../../domain/events/Catalogue.ts"
import type { Shape } from "./Columns.ts"

/** The fields of an entity, its identifier among them. */
export type Identified = Schema.Struct.Fields & { readonly id: Schema.Schema.All }

export interface Stamped {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** A resource as read, with the number of its last event: whoever writes next must have seen that one. */
export interface Versioned<A> {
  readonly value: A
  readonly sequence: number
}

/** What tells one resource of a tenant from another. */
export interface Spec<A, F extends Identified, N extends ResourceName = ResourceName> extends Omit<Shape, "fields"> {
  /** What events call it. */
  readonly name: N
  readonly entity: Schema.Struct<F> & { readonly Type: A }
  /** The client an event about this resource belongs to: its identifier, or a subselect that looks it up. */
  readonly clientOf?: (entity: A, tenant: string) => string | Fragment | undefined
  /** The column that holds the tenant, and the rows that count as there, where these are not the usual. */
  readonly tenantColumn?: string
  readonly visible?: string
  /** How events show it, where that is not as it is kept. */
  readonly shown?: (entity: A) => unknown
  /** How answers, and so their entity tags, show it, where that is not as events do. */
  readonly answered?: (entity: A) => unknown
  /** What removes a row, where that is not a delete. */
  readonly removal?: string
}
