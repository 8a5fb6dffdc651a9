import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { Detail, WireError } from "../../domain/Errors.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { issueOfLine, mayBeOfSameSite, siteOfLine } from "../../domain/tracker/IssueBilling.ts"
import { wasMadeOf } from "./MayBill.ts"

interface Referring {
  readonly referenceType?: string | undefined
  readonly referenceId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

const isReferring = ({ referenceId, referenceType }: Referring) =>
  referenceId !== undefined && referenceType !== undefined

type Billed = Referring & { readonly invoice: string }

/** A line that bears a reference. `invoice` is left out for one that is about to be added. */
interface Bearer {
  readonly site: string | undefined
  readonly invoice: string | undefined
}

const keyOf = ({ referenceId, referenceType }: Referring) => JSON.stringify([referenceType, referenceId])

/** Lines by what they refer to: by the reference itself, and by the issue they were made of. */
class Bearers {
  readonly #byKey = new Map<string, Array<Bearer>>()
  readonly #byIssue = new Map<string, Bearer>()

  add(line: Referring, invoice?: string) {
    const bearer = { site: siteOfLine(line), invoice }
    const issue = issueOfLine(line)
    const alike = this.#byKey.get(keyOf(line))
    if (alike === undefined) this.#byKey.set(keyOf(line), [bearer])
    else alike.push(bearer)
    if (issue !== undefined) this.#byIssue.set(issue, bearer)
  }

  find(line: Referring) {
    const site = siteOfLine(line)
    const alike = this.#byKey.get(keyOf(line))?.find((one) => mayBeOfSameSite(one.site, site))
    return alike ?? this.#byIssue.get(issueOfLine(line) ?? "")
  }
}

/**
 * What was billed is not billed again, until the invoice it is on is void. The unique index of the table decides; this
 * says which invoice it is on.
 */
export class References extends Effect.Service<References>()("layers/References", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // Of the metadata only what tells lines apart: all of it may be a hundred kilobytes a line.
    const select = sql.literal(`
      select reference_type as "referenceType", reference_id as "referenceId", invoice_id as invoice,
        json_strip_nulls(json_build_object('siteId', metadata ->> 'siteId', 'issueId', metadata ->> 'issueId')) as metadata`)

    /** As the unique index has it. */
    const site = sql.literal(`(case when reference_type = 'jira' then coalesce(metadata ->> 'siteId', '') else '' end)`)

    /** One line for each reference that is borne already; the same key may be borne at any number of sites. */
    const bearing = (tenant: string, wanted: ReadonlyArray<Referring>) => {
      const references = wanted.map((line) => ({
        type: line.referenceType,
        id: line.referenceId,
        site: siteOfLine(line)
      }))
      const alike = sql`${select} from billables where tenant_id = ${tenant} and not released
        and reference_type = wanted.type and reference_id = wanted.id`
      return sql<Billed>`
        select bearer.* from (
          select distinct type, id, site
          from json_to_recordset(${JSON.stringify(references)}::json) as given (type text, id text, site text)
        ) wanted join lateral (
          (${alike} and wanted.site is null limit 1)
          union all
          (${alike} and ${site} in (wanted.site, '') order by ${site} desc limit 1)
        ) bearer on true`
    }

    /** The lines that were made of these issues already, under whatever key. */
    const madeOf = (tenant: string, issues: ReadonlyArray<string>) =>
      issues.length === 0
        ? Effect.succeed([])
        : sql<Billed>`
            ${select} from json_array_elements_text(${JSON.stringify(issues)}::json) as wanted
            join billables b on b.tenant_id = ${tenant} and not b.released and ${wasMadeOf(sql, sql.literal("wanted"))}`

    const billedOf = Effect.fnUntraced(function* (wanted: ReadonlyArray<Referring>) {
      const tenant = yield* CurrentTenant
      const issues = wanted.flatMap((line) => issueOfLine(line) ?? [])
      const billed = new Bearers()
      for (const row of yield* bearing(tenant, wanted)) billed.add(row, row.invoice)
      for (const row of yield* madeOf(tenant, issues)) billed.add(row, row.invoice)
      return billed
    }, Effect.orDie)

    return {
      /** A fault for each line that refers to what is billed already, or to what a line before it refers to. */
      taken: Effect.fnUntraced(function* (lines: ReadonlyArray<Referring>, fieldOf: (index: number) => string) {
        const wanted = lines.filter(isReferring)
        if (wanted.length === 0) return []
        const billed = yield* billedOf(wanted)
        return lines.flatMap((line, index): ReadonlyArray<Detail> => {
          if (!isReferring(line)) return []
          const bearer = billed.find(line)
          billed.add(line)
          if (bearer === undefined) return []
          const { invoice } = bearer
          const message = invoice === undefined ? "is on a line before" : `is billed already, on invoice ${invoice}`
          return [{ field: fieldOf(index), constraint: "unique", message }]
        })
      }),

      /**
       * Whoever met the index, because another request billed the same a moment earlier, looks once more: now there is
       * an invoice to be named.
       */
      onceMore: <A, E extends WireError, R>(work: Effect.Effect<A, E, R>) =>
        Effect.catchIf(
          work,
          (error) =>
            error._tag === "ValidationError" && ["referenceId", "issueId"].includes(error.details?.[0]?.field ?? ""),
          () => work
        )
    }
  })
}) {}
