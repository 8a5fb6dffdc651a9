import type { Fragment } from "@effect/sql/Statement"
import type { Schema } from "effect"
import type { ResourceName } from "../../../../domain/events/EventCatalogue.ts"
import type { TableShape } from "./Columns.ts"
import type { SortKeys } from "./Keyset.ts"

/** The fields of an entity, including its identifier. */
export type IdentifiedFields = Schema.Struct.Fields & { readonly id: Schema.Schema.All }

/** The fields that the server sets. */
export interface GeneratedFields {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** A resource with the sequence number of its last event, which serves as the version of the optimistic lock. */
export interface Versioned<A> {
  readonly value: A
  readonly sequence: number
}

/** Describes a resource to the generic repository. */
export interface ResourceSpec<A, F extends IdentifiedFields, N extends ResourceName = ResourceName>
  extends Omit<TableShape, "fields"> {
  /** The resource in event types, `<name>.<action>`. */
  readonly name: N
  readonly entity: Schema.Struct<F> & { readonly Type: A }
  /** The client of the resource's events: its identifier, or a subselect that looks it up. */
  readonly clientOf?: (entity: A, tenant: string) => string | Fragment | undefined
  /** The fields that lists can be sorted by, each on an index. */
  readonly sorts?: SortKeys
  /** Default `tenant_id`. */
  readonly tenantColumn?: string
  /** SQL condition of the rows that are not soft-deleted. Default `true`. */
  readonly visible?: string
  /** Converts to the data of events. Default: the entity itself. */
  readonly toEventData?: (entity: A) => unknown
  /** Converts to the response body, from which ETags are computed. Default: as in events. */
  readonly toResponseBody?: (entity: A) => unknown
  /** SQL that deletes a row, for a soft delete. Default `delete from`. */
  readonly deleteSql?: string
}
