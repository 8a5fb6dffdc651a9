import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ResourceName } from "../../../domain/events/Catalogue.ts"
import type { Shape } from "./Columns.ts"
import { makeBulk } from "./ResourceBulk.ts"
import { makeReading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped } from "./ResourceSpec.ts"
import { makeWriting } from "./ResourceWriting.ts"

/**
 * What every resource of a tenant can do, over one table: list, read, create, change and remove. A change is made to
 * the version that was read and lands only if that is still the newest; otherwise the row is locked and the change made
 * again, so that nobody loses twice and no lock is held without need.
 */
export const resource = <A extends Stamped, F extends Identified, N extends ResourceName>(spec: Spec<A, F, N>) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const shape: Shape = { ...spec, fields: spec.entity.fields }
    const reading = makeReading<A>(sql, shape, {
      tenantColumn: spec.tenantColumn ?? "tenant_id",
      visible: spec.visible ?? "true"
    })
    return {
      ...reading,
      ...makeWriting(sql, spec, shape, reading),
      ...makeBulk(sql, spec, shape),
      get: (id: string) => Effect.map(reading.current(id), ({ value }) => value)
    }
  })
