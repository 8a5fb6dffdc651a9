import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"

/** SQL predicate for rows aliased "this": their integration exists. The purge of a deleted one removes its rows later. */
export const integrationExistsSql = `exists (
  select 1 from integrations i where i.tenant_id = this.tenant_id and i.id = this.integration_id)`

/** Fails with NotFound unless the tenant has this integration. */
export const makeRequireIntegration = (sql: SqlClient.SqlClient) => (integration: string) =>
  Effect.flatMap(CurrentTenant, (tenant) =>
    Effect.orDie(sql<object>`select 1 from integrations where tenant_id = ${tenant} and id = ${integration}`)
  ).pipe(
    Effect.filterOrFail(
      (rows) => rows.length === 1,
      () => new NotFound()
    ),
    Effect.asVoid
  )
