import { Effect, Schema } from "effect"
import type { EventType } from "../events/Catalogue.ts"
import { storableText } from "../StorableText.ts"
import { IssueWebhook, type WebhookKind } from "./IssueWebhook.ts"
import { mostKept, type TrackedIssue } from "./TrackedIssue.ts"

/** What a webhook tells of an issue. */
export type IssueFacts = Pick<TrackedIssue, "externalId" | "issueKey" | "projectKey" | "title" | "state" | "isDeleted">

export interface Told {
  readonly kind: WebhookKind
  readonly happenedAt: number
  readonly facts: IssueFacts
}

/** An issue as it is known, and the time of the webhook that last said something of it. */
export interface Known {
  readonly issue: TrackedIssue
  readonly happenedAt: number
}

/** What the event about a webhook is called. */
export const eventOf = {
  "jira:issue_created": "issue.created",
  "jira:issue_updated": "issue.updated",
  "jira:issue_deleted": "issue.deleted"
} as const satisfies Readonly<Record<WebhookKind, EventType>>

const Words = Schema.Struct({
  summary: Schema.optional(Schema.Unknown),
  status: Schema.optional(Schema.Unknown)
})

const decodeBody = Schema.decodeUnknown(Schema.parseJson(IssueWebhook))
const wordsOf = Schema.decodeUnknownSync(Words)

/** Text that can be kept, if it is text at all, and so much of it. */
const kept = (value: unknown, most: number) =>
  typeof value === "string" ? [...storableText(value)].slice(0, most).join("") : undefined

const nameOf = (value: unknown) =>
  typeof value === "object" && value !== null && "name" in value ? value.name : undefined

const toldBy = ({ issue, timestamp, webhookEvent }: IssueWebhook): Told => {
  const { status, summary } = wordsOf(issue.fields)
  const title = kept(summary, mostKept.title)
  const state = kept(nameOf(status), mostKept.state)
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

/** What the body of a webhook tells of its issue, if it is one. */
export const readTold = (body: string) => Effect.map(decodeBody(body), toldBy)

const words = ["issueKey", "projectKey", "title", "state", "isDeleted"] as const

const isSame = (issue: TrackedIssue, facts: IssueFacts) => words.every((word) => issue[word] === facts[word])

/**
 * What is to be done about a webhook. One that is deleted stays so, whatever comes later; a deletion counts whenever it
 * comes; anything else only if it is not older than what is known. One that says again what is known changes nothing.
 */
export const judge = (known: Known | undefined, { facts, happenedAt, kind }: Told) => {
  if (known === undefined) return "apply"
  if (known.issue.isDeleted) return "stale"
  if (facts.isDeleted) return "apply"
  if (happenedAt < known.happenedAt) return "stale"
  if (happenedAt > known.happenedAt) return "apply"
  if (isSame(known.issue, facts)) return "same"
  return kind === "jira:issue_created" ? "stale" : "apply"
}

/** Whether what was billed is no longer what it was. */
export const isDrift = (before: TrackedIssue | undefined, after: IssueFacts) =>
  after.isDeleted ||
  (before !== undefined &&
    (before.title !== after.title || before.state !== after.state || before.issueKey !== after.issueKey))

/** What came of working a webhook. One that could not be is tried again a few times before it has FAILED. */
export const workResults = ["DONE", "STALE", "RETRIED", "FAILED"] as const
export type WorkResult = (typeof workResults)[number]
