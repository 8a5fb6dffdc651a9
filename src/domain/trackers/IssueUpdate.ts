import { Effect, Schema } from "effect"
import type { EventType } from "../events/EventCatalogue.ts"
import { toStorableText } from "../StorableText.ts"
import { IssueWebhook, type WebhookKind } from "./IssueWebhook.ts"
import { maxIssueTextLength, type TrackedIssue } from "./TrackedIssue.ts"

/** The fields of an issue that a webhook contains. */
export type IssueFacts = Pick<TrackedIssue, "externalId" | "issueKey" | "projectKey" | "title" | "state" | "isDeleted">

/** A decoded webhook. */
export interface IssueUpdate {
  readonly kind: WebhookKind
  readonly happenedAt: number
  readonly facts: IssueFacts
}

/** A stored issue and the timestamp of the last webhook that was applied to it. */
export interface IssueVersion {
  readonly issue: TrackedIssue
  readonly happenedAt: number
}

/** The event type for each kind of webhook. */
export const issueEventTypes = {
  "jira:issue_created": "issue.created",
  "jira:issue_updated": "issue.updated",
  "jira:issue_deleted": "issue.deleted"
} as const satisfies Readonly<Record<WebhookKind, EventType>>

const OptionalFields = Schema.Struct({
  summary: Schema.optional(Schema.Unknown),
  status: Schema.optional(Schema.Unknown)
})

const decodeBody = Schema.decodeUnknown(Schema.parseJson(IssueWebhook))
const decodeOptionalFields = Schema.decodeUnknownSync(OptionalFields)

/** Makes a text storable and truncates it to `maxLength` characters. Other values are undefined. */
const toText = (value: unknown, maxLength: number) =>
  typeof value === "string" ? [...toStorableText(value)].slice(0, maxLength).join("") : undefined

const nameOf = (value: unknown) =>
  typeof value === "object" && value !== null && "name" in value ? value.name : undefined

const toIssueUpdate = ({ issue, timestamp, webhookEvent }: IssueWebhook): IssueUpdate => {
  const { status, summary } = decodeOptionalFields(issue.fields)
  const title = toText(summary, maxIssueTextLength.title)
  const state = toText(nameOf(status), maxIssueTextLength.state)
  return {
    kind: webhookEvent,
    happenedAt: timestamp,
    facts: {
      externalId: issue.id,
      issueKey: issue.key,
      projectKey: issue.fields.project.key,
      ...(title === undefined ? {} : { title }),
      ...(state === undefined ? {} : { state }),
      isDeleted: webhookEvent === "jira:issue_deleted"
    }
  }
}

/** Parses the body of a webhook. Fails unless it is an issue webhook. */
export const parseIssueUpdate = (body: string) => Effect.map(decodeBody(body), toIssueUpdate)

const comparedFields = ["issueKey", "projectKey", "title", "state", "isDeleted"] as const

const isSame = (issue: TrackedIssue, facts: IssueFacts) =>
  comparedFields.every((field) => issue[field] === facts[field])

/**
 * Decides whether to apply a webhook. Webhooks can arrive late or twice. A deleted issue stays deleted. A deletion
 * always applies. Any other webhook applies unless it is older than the stored issue or repeats it. With equal
 * timestamps, `issue_created` counts as the older one.
 */
export const decideIssueUpdate = (known: IssueVersion | undefined, { facts, happenedAt, kind }: IssueUpdate) => {
  if (known === undefined) return "apply"
  if (known.issue.isDeleted) return "stale"
  if (facts.isDeleted) return "apply"
  if (happenedAt < known.happenedAt) return "stale"
  if (happenedAt > known.happenedAt) return "apply"
  if (isSame(known.issue, facts)) return "same"
  return kind === "jira:issue_created" ? "stale" : "apply"
}

/** Whether an issue was deleted or changed in its title, state or key. Lines that bill it no longer match it then. */
export const hasDrifted = (before: TrackedIssue | undefined, after: IssueFacts) =>
  after.isDeleted ||
  (before !== undefined &&
    (before.title !== after.title || before.state !== after.state || before.issueKey !== after.issueKey))

/** Results of processing a webhook. RETRIED: the attempt failed, another follows. FAILED: the last attempt failed. */
export const processingResults = ["DONE", "STALE", "RETRIED", "FAILED"] as const
export type ProcessingResult = (typeof processingResults)[number]
