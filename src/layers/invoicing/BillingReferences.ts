import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ApiError } from "../../domain/Errors.ts"
import { hasReference, type ReferenceFields, ReferenceIndex } from "../../domain/invoicing/ReferenceIndex.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { issueOfLine, siteOfLine } from "../../domain/trackers/IssueBilling.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { isCreatedFromIssue } from "./BillingPredicates.ts"

type BilledLine = ReferenceFields & { readonly invoice: string }

/**
 * Rejects a reference that is billed already, until its invoice is void. The unique index decides. This service finds
 * the invoice for the error message.
 */
export class BillingReferences extends Effect.Service<BillingReferences>()("layers/BillingReferences", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // Selects only the metadata that distinguishes lines: all of it can be 100 KB a line.
    const select = sql.literal(`
      select reference_type as "referenceType", reference_id as "referenceId", invoice_id as invoice,
        json_strip_nulls(json_build_object('siteId', metadata ->> 'siteId', 'issueId', metadata ->> 'issueId')) as metadata`)

    /** The expression of the unique index. */
    const site = sql.literal(`(case when reference_type = 'jira' then coalesce(metadata ->> 'siteId', '') else '' end)`)

    /** Finds one billed line for each reference. The same key can be billed once per site. */
    const findByReference = (tenant: string, wanted: ReadonlyArray<ReferenceFields>) => {
      const references = wanted.map((line) => ({
        type: line.referenceType,
        id: line.referenceId,
        site: siteOfLine(line)
      }))
      const sameReference = sql`${select} from billables where tenant_id = ${tenant} and not released
        and reference_type = wanted.type and reference_id = wanted.id`
      return sql<BilledLine>`
        select bearer.* from (
          select distinct type, id, site
          from json_to_recordset(${JSON.stringify(references)}::json) as given (type text, id text, site text)
        ) wanted join lateral (
          (${sameReference} and wanted.site is null limit 1)
          union all
          (${sameReference} and ${site} in (wanted.site, '') order by ${site} desc limit 1)
        ) bearer on true`
    }

    /** Finds the billed lines that were created from these tracked issues. The key of an issue can differ from then. */
    const findByIssue = (tenant: string, issues: ReadonlyArray<string>) =>
      issues.length === 0
        ? Effect.succeed([])
        : sql<BilledLine>`
            ${select} from json_array_elements_text(${JSON.stringify(issues)}::json) as wanted
            join billables b on b.tenant_id = ${tenant} and not b.released and ${isCreatedFromIssue(sql, sql.literal("wanted"))}`

    const loadBilled = Effect.fnUntraced(function* (wanted: ReadonlyArray<ReferenceFields>) {
      const tenant = yield* CurrentTenant
      const issues = wanted.flatMap((line) => issueOfLine(line) ?? [])
      const billed = new ReferenceIndex()
      for (const row of yield* findByReference(tenant, wanted)) billed.add(row, row.invoice)
      for (const row of yield* findByIssue(tenant, issues)) billed.add(row, row.invoice)
      return billed
    }, Effect.orDie)

    return {
      /** Returns an error for each line whose reference is billed already or used by an earlier line of the request. */
      findDuplicates: Effect.fnUntraced(function* (
        lines: ReadonlyArray<ReferenceFields>,
        fieldOf: (index: number) => string
      ) {
        const wanted = lines.filter(hasReference)
        if (wanted.length === 0) return []
        const billed = yield* loadBilled(wanted)
        return billed.addRequest(lines, fieldOf)
      }),

      /**
       * Retries once after a violation of the unique index. A concurrent request has billed the same reference, and the
       * second attempt finds its invoice.
       */
      retryOnDuplicate: <A, E extends ApiError, R>(work: Effect.Effect<A, E, R>) =>
        Effect.catchIf(
          work,
          (error) =>
            error._tag === "ValidationError" && ["referenceId", "issueId"].includes(error.details?.[0]?.field ?? ""),
          () => work
        )
    }
  }).pipe(withSpans("BillingReferences"))
}) {}
