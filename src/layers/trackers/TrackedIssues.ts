import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { maxBillablesPerRequest } from "../../domain/invoicing/Billable.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { jiraReferenceType } from "../../domain/trackers/IssueBilling.ts"
import { TrackedIssue } from "../../domain/trackers/TrackedIssue.ts"
import type { TableShape } from "../infra/postgres/repository/Columns.ts"
import { makeResourceReader } from "../infra/postgres/repository/ResourceReader.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { integrationExistsSql, makeRequireIntegration } from "../integrations/IntegrationGuard.ts"
import { canBillSite, isCreatedFromIssue } from "../invoicing/BillingPredicates.ts"

export const issueShape: TableShape = {
  table: "tracked_issues",
  fields: TrackedIssue.fields,
  relations: ["integration"]
}

interface Filter {
  readonly projectKey?: string | undefined
  readonly key?: string | undefined
  readonly state?: string | undefined
  readonly deleted?: boolean | undefined
  readonly billed?: boolean | undefined
}

/** Repository of the issues that trackers have sent. */
export class TrackedIssues extends Effect.Service<TrackedIssues>()("layers/TrackedIssues", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reading = makeResourceReader<TrackedIssue>(sql, issueShape, {
      tenantColumn: "tenant_id",
      visible: integrationExistsSql
    })
    const requireIntegration = makeRequireIntegration(sql)

    const selectByIntegration = (integration: string, condition: Fragment) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        reading.select(sql`
          tracked_issues this where ${reading.inTenant(tenant)} and this.integration_id = ${integration} and ${condition}`)
      )

    const noFilter = sql`true`
    const isUnbilled = sql`not exists (
      select 1 from billables b
      join integrations i on i.tenant_id = this.tenant_id and i.id = this.integration_id
      where b.tenant_id = this.tenant_id and not b.released
        and b.reference_type = ${jiraReferenceType} and b.reference_id = this.issue_key
        and ${canBillSite(sql, sql.literal("i.config ->> 'siteId'"))})
      and not exists (
        select 1 from billables b
        where b.tenant_id = this.tenant_id and not b.released and ${isCreatedFromIssue(sql, sql.literal("this.id"))})`

    return {
      pageByAge: reading.pageByAge,

      /** The site id of an integration, or undefined while it is unknown. */
      getSiteId: (integration: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ site: string | null }>`
            select config ->> 'siteId' as site from integrations where tenant_id = ${tenant} and id = ${integration}`)
        ).pipe(
          Effect.flatMap(([row]) =>
            row === undefined ? Effect.fail(new NotFound()) : Effect.succeed(row.site ?? undefined)
          )
        ),

      page: (integration: string, window: PageRequest, { billed, deleted, key, projectKey, state }: Filter) =>
        reading
          .page(
            window,
            { integration, projectKey, state, issueKey: key },
            sql`${deleted === undefined ? noFilter : sql`this.is_deleted = ${deleted}`}
              and ${billed === undefined ? noFilter : billed ? sql`not (${isUnbilled})` : isUnbilled}`
          )
          .pipe(Effect.tap((rows) => (rows.length === 0 ? requireIntegration(integration) : Effect.void))),

      get: (integration: string, id: string) =>
        Effect.flatMap(selectByIntegration(integration, sql`this.id = ${id}`), ([found]) =>
          found === undefined ? Effect.fail(new NotFound()) : Effect.succeed(found)
        ),

      /**
       * Finds issues that are not deleted, by key. Of two issues with the same key it takes the one that changed last.
       */
      findByKeys: (integration: string, keys: ReadonlyArray<string>) =>
        Effect.map(
          selectByIntegration(
            integration,
            sql`not this.is_deleted
              and this.issue_key in (select json_array_elements_text(${JSON.stringify(keys)}::json))
              order by this.happened_at`
          ),
          (found) => new Map(found.map((issue) => [issue.issueKey, issue]))
        ),

      /** Finds unbilled issues. The limit is one more than a request can bill, so that the caller detects too many. */
      findUnbilled: (integration: string, { projectKey, state }: Pick<Filter, "projectKey" | "state">) =>
        selectByIntegration(
          integration,
          sql`not this.is_deleted and ${isUnbilled}
            and (${projectKey ?? null}::text is null or this.project_key = ${projectKey ?? null})
            and (${state ?? null}::text is null or this.state = ${state ?? null})
            order by this.id limit ${maxBillablesPerRequest + 1}`
        )
    }
  }).pipe(withSpans("TrackedIssues"))
}) {}
