import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { Detail, WireError } from "../../../domain/Errors.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { mayBeOfSameSite, siteOfLine } from "../../../domain/tracker/IssueBilling.ts"

interface Referring {
  readonly referenceType?: string | undefined
  readonly referenceId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** A line that bears a reference. `invoice` is left out for one that is about to be added. */
interface Bearer {
  readonly site: string | undefined
  readonly invoice?: string
}

const keyOf = ({ referenceId, referenceType }: Referring) => JSON.stringify([referenceType, referenceId])

const add = (bearers: Map<string, Array<Bearer>>, line: Referring, bearer: Bearer) => {
  const key = keyOf(line)
  bearers.set(key, [...(bearers.get(key) ?? []), bearer])
}

/**
 * What was billed is not billed again, until the invoice it is on is void. The unique index of the table decides; this
 * says which invoice it is on.
 */
export class References extends Effect.Service<References>()("layers/References", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** The invoices that bear these references already. */
    const bearers = (wanted: ReadonlyArray<Referring>) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Referring & { invoice: string }>`
          select reference_type as "referenceType", reference_id as "referenceId", metadata, invoice_id as invoice
          from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted ("referenceType" text, "referenceId" text)
          join billables on tenant_id = ${tenant} and not released
            and reference_type = wanted."referenceType" and reference_id = wanted."referenceId"`)
      ).pipe(
        Effect.map((rows) => {
          const billed = new Map<string, Array<Bearer>>()
          for (const row of rows) add(billed, row, { site: siteOfLine(row), invoice: row.invoice })
          return billed
        })
      )

    return {
      /** A fault for each line that refers to what is billed already, or to what a line before it refers to. */
      taken: Effect.fnUntraced(function* (lines: ReadonlyArray<Referring>, fieldOf: (index: number) => string) {
        const wanted = lines.flatMap(({ referenceId, referenceType }) =>
          referenceId === undefined || referenceType === undefined ? [] : [{ referenceId, referenceType }]
        )
        if (wanted.length === 0) return []
        const billed = yield* bearers(wanted)
        return lines.flatMap((line, index): ReadonlyArray<Detail> => {
          if (line.referenceId === undefined || line.referenceType === undefined) return []
          const site = siteOfLine(line)
          const bearer = billed.get(keyOf(line))?.find((one) => mayBeOfSameSite(one.site, site))
          add(billed, line, { site })
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
          (error) => error._tag === "ValidationError" && error.details?.[0]?.field === "referenceId",
          () => work
        )
    }
  })
}) {}
