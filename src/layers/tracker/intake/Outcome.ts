import { SqlError } from "@effect/sql/SqlError"
import { Data, Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { storableText } from "../../../domain/StorableText.ts"
import { judge, readTold, type Told, type WorkResult } from "../../../domain/tracker/Intake.ts"
import { type TrackedIssue, TrackedIssueId } from "../../../domain/tracker/TrackedIssue.ts"
import { makeId } from "../../postgres/Ids.ts"
import { arranger } from "../../postgres/repository/Columns.ts"
import { issueShape } from "../TrackedIssues.ts"
import type { IssueKey } from "./IssueKey.ts"
import type { KnownIssue, Waiting } from "./Taking.ts"

/** What becomes of a webhook. One that failed waits on, but not for ever. */
export interface Outcome {
  readonly tenant: string
  readonly id: string
  readonly status: "DONE" | "STALE" | "RECEIVED" | "FAILED"
  readonly error: string | null
}

const resultOf: Record<Outcome["status"], WorkResult> = {
  DONE: "DONE",
  STALE: "STALE",
  RECEIVED: "RETRIED",
  FAILED: "FAILED"
}

/** What outcomes are counted as. */
export const resultsOf = (outcomes: ReadonlyArray<Outcome>) => outcomes.map(({ status }) => resultOf[status])

export class Unworkable extends Data.TaggedError("Unworkable")<{ readonly cause: unknown }> {}

const mostAttempts = 5
const maxError = 1000

const arrange = arranger(issueShape)

const urlOf = (siteUrl: string | null, key: string) => {
  const url = `${siteUrl?.replace(/\/+$/, "")}/browse/${encodeURIComponent(key)}`
  return siteUrl === null || url.length > 500 ? {} : { url }
}

/** The issue after a webhook. */
const next = (
  { integration }: IssueKey,
  before: KnownIssue | undefined,
  { facts }: Told,
  siteUrl: string | null
): TrackedIssue => {
  const at = new Date().toISOString()
  const id = before?.issue.id ?? makeId(prefixOf(TrackedIssueId))
  const fields = { ...facts, ...urlOf(siteUrl, facts.issueKey), id, integration }
  // Only the order of the fields changes, which a record of columns cannot tell its type.
  return arrange({ ...fields, createdAt: before?.issue.createdAt ?? at, updatedAt: at }) as unknown as TrackedIssue
}

/** What a webhook says, what is to become of it, and the issue after it if it changes anything. */
export const readOutcome = (key: IssueKey, before: KnownIssue | undefined, { body, id, siteUrl }: Waiting) =>
  Effect.map(
    Effect.mapError(readTold(body), (cause) => new Unworkable({ cause })),
    (told) => {
      const verdict = judge(before, told)
      const outcome: Outcome = {
        tenant: key.tenant,
        id,
        status: verdict === "stale" ? "STALE" : "DONE",
        error: null
      }
      const after: KnownIssue | undefined =
        verdict === "apply"
          ? {
              issue: next(key, before, told, siteUrl),
              happenedAt: Math.max(told.happenedAt, before?.happenedAt ?? told.happenedAt),
              sequence: (before?.sequence ?? 0) + 1
            }
          : undefined
      return { told, outcome, after }
    }
  )

const errorOf = (error: unknown): string => {
  const cause = error instanceof Unworkable || error instanceof SqlError ? error.cause : error
  return storableText(cause instanceof Error ? cause.message : String(cause), maxError)
}

export const failure = ({ tenant }: IssueKey, { attempts, id }: Waiting, error: unknown): Outcome => ({
  tenant,
  id,
  status: attempts + 1 < mostAttempts ? "RECEIVED" : "FAILED",
  error: errorOf(error)
})
