import { SqlError } from "@effect/sql/SqlError"
import { Data, Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { toStorableText } from "../../../domain/StorableText.ts"
import {
  decideIssueUpdate,
  type IssueUpdate,
  type ProcessingResult,
  parseIssueUpdate
} from "../../../domain/trackers/IssueUpdate.ts"
import { type TrackedIssue, TrackedIssueId } from "../../../domain/trackers/TrackedIssue.ts"
import { makeId } from "../../infra/postgres/IdGenerator.ts"
import { makeEntityMapper } from "../../infra/postgres/repository/Columns.ts"
import { issueShape } from "../TrackedIssues.ts"
import type { KnownIssue, PendingWebhook } from "./BatchLoader.ts"
import type { IssueRef } from "./IssueRef.ts"

/** The new status of a processed webhook. A failed one stays RECEIVED and is retried, up to the maximum of attempts. */
export interface InboundOutcome {
  readonly tenant: string
  readonly id: string
  readonly status: "DONE" | "STALE" | "RECEIVED" | "FAILED"
  readonly error: string | null
}

const resultOf: Record<InboundOutcome["status"], ProcessingResult> = {
  DONE: "DONE",
  STALE: "STALE",
  RECEIVED: "RETRIED",
  FAILED: "FAILED"
}

/** Maps outcomes to the labels of the metric. */
export const toProcessingResults = (outcomes: ReadonlyArray<InboundOutcome>) =>
  outcomes.map(({ status }) => resultOf[status])

export class UnreadableWebhook extends Data.TaggedError("UnreadableWebhook")<{ readonly cause: unknown }> {}

const maxAttempts = 5
const maxErrorLength = 1000

const arrange = makeEntityMapper(issueShape)

const urlOf = (siteUrl: string | null, key: string) => {
  const url = `${siteUrl?.replace(/\/+$/, "")}/browse/${encodeURIComponent(key)}`
  return siteUrl === null || url.length > 500 ? {} : { url }
}

/** The state of the issue after a webhook. */
const nextIssue = (
  { integration }: IssueRef,
  before: KnownIssue | undefined,
  { facts }: IssueUpdate,
  siteUrl: string | null
): TrackedIssue => {
  const at = new Date().toISOString()
  const id = before?.issue.id ?? makeId(prefixOf(TrackedIssueId))
  const fields = { ...facts, ...urlOf(siteUrl, facts.issueKey), id, integration }
  // The cast is safe: `arrange` changes only the order of the fields.
  return arrange({ ...fields, createdAt: before?.issue.createdAt ?? at, updatedAt: at }) as unknown as TrackedIssue
}

/**
 * Decodes a webhook and decides its outcome. `after` is the new state of the issue, or undefined when nothing changes.
 */
export const evaluateWebhook = (key: IssueRef, before: KnownIssue | undefined, { body, id, siteUrl }: PendingWebhook) =>
  Effect.map(
    Effect.mapError(parseIssueUpdate(body), (cause) => new UnreadableWebhook({ cause })),
    (update) => {
      const decision = decideIssueUpdate(before, update)
      const outcome: InboundOutcome = {
        tenant: key.tenant,
        id,
        status: decision === "stale" ? "STALE" : "DONE",
        error: null
      }
      const after: KnownIssue | undefined =
        decision === "apply"
          ? {
              issue: nextIssue(key, before, update, siteUrl),
              happenedAt: Math.max(update.happenedAt, before?.happenedAt ?? update.happenedAt),
              sequence: (before?.sequence ?? 0) + 1
            }
          : undefined
      return { update, outcome, after }
    }
  )

const errorText = (error: unknown): string => {
  const cause = error instanceof UnreadableWebhook || error instanceof SqlError ? error.cause : error
  return toStorableText(cause instanceof Error ? cause.message : String(cause), maxErrorLength)
}

export const failedOutcome = (
  { tenant }: IssueRef,
  { attempts, id }: PendingWebhook,
  error: unknown
): InboundOutcome => ({
  tenant,
  id,
  status: attempts + 1 < maxAttempts ? "RECEIVED" : "FAILED",
  error: errorText(error)
})
