import { Effect, Either } from "effect"
import { assert, describe, it } from "vitest"
import { IntegrationId } from "../../../src/domain/integrations/Integration.ts"
import {
  decideIssueUpdate,
  hasDrifted,
  type IssueFacts,
  issueEventTypes,
  parseIssueUpdate
} from "../../../src/domain/trackers/IssueUpdate.ts"
import { type TrackedIssue, TrackedIssueId } from "../../../src/domain/trackers/TrackedIssue.ts"

const facts: IssueFacts = {
  externalId: "10001",
  issueKey: "A-1",
  projectKey: "A",
  title: "Leak",
  state: "Open",
  isDeleted: false
}
const issue: TrackedIssue = {
  id: TrackedIssueId.make("iss_1"),
  integration: IntegrationId.make("int_1"),
  ...facts,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z"
}

const webhook = (fields: object = {}, more: object = {}) =>
  JSON.stringify({
    timestamp: 1000,
    webhookEvent: "jira:issue_updated",
    matchedWebhookIds: [1],
    issue: { id: "10001", key: "A-1", fields: { project: { key: "A" }, ...fields } },
    ...more
  })
const parse = (body: string) => Effect.runSync(Effect.either(parseIssueUpdate(body)))
const factsOf = (fields: object) => Either.getOrThrow(parse(webhook(fields))).facts

describe("parseIssueUpdate", () => {
  it("reads the facts of an issue", () => {
    assert.deepStrictEqual(
      parse(webhook({ summary: "Leak", status: { name: "Open" } })),
      Either.right({ kind: "jira:issue_updated", happenedAt: 1000, facts } as const)
    )
  })

  it("reads a deletion", () => {
    const update = Either.getOrThrow(parse(webhook({}, { webhookEvent: "jira:issue_deleted" })))
    assert.strictEqual(update.kind, "jira:issue_deleted")
    assert.isTrue(update.facts.isDeleted)
  })

  it.each<[fields: object]>([
    [{}],
    [{ summary: null, status: null }],
    [{ summary: 7, status: "Open" }],
    [{ summary: {}, status: {} }],
    [{ status: { name: 7 } }]
  ])("leaves out a title and a state that are no texts: %j", (fields) => {
    assert.deepStrictEqual(factsOf(fields), {
      externalId: "10001",
      issueKey: "A-1",
      projectKey: "A",
      isDeleted: false
    })
  })

  it("truncates long texts by characters and makes them storable", () => {
    const { state, title } = factsOf({
      summary: `\u0000${"\u{1F600}".repeat(1001)}`,
      status: { name: "s".repeat(256) }
    })
    assert.strictEqual(title, "\u{1F600}".repeat(1000))
    assert.strictEqual(state, "s".repeat(255))
  })

  it("fails on anything but an issue webhook", () => {
    for (const body of ["", "{}", "[]", webhook({ project: {} }), webhook({}, { webhookEvent: "jira:other" })])
      assert.isTrue(Either.isLeft(parse(body)), body)
  })
})

describe("issueEventTypes", () => {
  it("has an event type for each kind of webhook", () => {
    assert.deepStrictEqual(issueEventTypes, {
      "jira:issue_created": "issue.created",
      "jira:issue_updated": "issue.updated",
      "jira:issue_deleted": "issue.deleted"
    })
  })
})

describe("decideIssueUpdate", () => {
  const known = { issue, happenedAt: 1000 }
  const changed = { ...facts, title: "Bigger leak" }
  const update = { kind: "jira:issue_updated", happenedAt: 1000, facts } as const
  const deletion = { kind: "jira:issue_deleted", happenedAt: 1, facts: { ...facts, isDeleted: true } } as const

  it("applies the first webhook of an issue", () => {
    assert.strictEqual(decideIssueUpdate(undefined, { ...update, happenedAt: 1 }), "apply")
    assert.strictEqual(decideIssueUpdate(undefined, deletion), "apply")
  })

  it("applies a newer webhook and not an older one", () => {
    assert.strictEqual(decideIssueUpdate(known, { ...update, happenedAt: 1001 }), "apply")
    assert.strictEqual(decideIssueUpdate(known, { ...update, happenedAt: 999, facts: changed }), "stale")
  })

  it("applies a deletion always, and nothing after it", () => {
    assert.strictEqual(decideIssueUpdate(known, deletion), "apply")
    const deleted = { issue: { ...issue, isDeleted: true }, happenedAt: 1 }
    assert.strictEqual(decideIssueUpdate(deleted, { ...update, happenedAt: 2000 }), "stale")
    assert.strictEqual(decideIssueUpdate(deleted, { ...deletion, happenedAt: 2000 }), "stale")
  })

  it("recognizes a repetition of the same facts", () => {
    assert.strictEqual(decideIssueUpdate(known, update), "same")
    assert.strictEqual(decideIssueUpdate(known, { ...update, kind: "jira:issue_created" }), "same")
  })

  it.each<[change: Partial<IssueFacts>]>([
    [{ issueKey: "B-1" }],
    [{ projectKey: "B" }],
    [{ title: "Bigger leak" }],
    [{ state: "Done" }]
  ])("applies a change at the same time, unless it is a creation: %j", (change) => {
    const next = { ...update, facts: { ...facts, ...change } }
    assert.strictEqual(decideIssueUpdate(known, next), "apply")
    assert.strictEqual(decideIssueUpdate(known, { ...next, kind: "jira:issue_created" }), "stale")
  })
})

describe("hasDrifted", () => {
  it.each<[change: Partial<IssueFacts>, isDrifted: boolean]>([
    [{}, false],
    [{ projectKey: "B" }, false],
    [{ title: "Bigger leak" }, true],
    [{ state: "Done" }, true],
    [{ issueKey: "B-1" }, true],
    [{ isDeleted: true }, true]
  ])("of a change %j is %s", (change, isDrifted) => {
    assert.strictEqual(hasDrifted(issue, { ...facts, ...change }), isDrifted)
  })

  it("of an unknown issue is true only for a deletion", () => {
    assert.isFalse(hasDrifted(undefined, facts))
    assert.isTrue(hasDrifted(undefined, { ...facts, isDeleted: true }))
  })
})
