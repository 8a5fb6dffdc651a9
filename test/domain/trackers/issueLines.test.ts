import { assert, describe, it } from "vitest"
import { fieldError, ValidationError, validationError } from "../../../src/domain/Errors.ts"
import { IntegrationId } from "../../../src/domain/integrations/Integration.ts"
import { maxBillablesPerRequest } from "../../../src/domain/invoicing/Billable.ts"
import { TaxRateId } from "../../../src/domain/taxes/TaxRate.ts"
import { InboundWebhookId, requireReplayable } from "../../../src/domain/trackers/InboundWebhook.ts"
import {
  canBeSameSite,
  issueOfLine,
  issueToLine,
  requireAllFound,
  requireBillableCount,
  requireSelection,
  siteOfLine,
  toIssueErrors
} from "../../../src/domain/trackers/IssueBilling.ts"
import { type TrackedIssue, TrackedIssueId } from "../../../src/domain/trackers/TrackedIssue.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"

const integrationId = IntegrationId.make("int_1")
const at = "2026-01-01T00:00:00.000Z"
const bare: TrackedIssue = {
  id: TrackedIssueId.make("iss_1"),
  integration: integrationId,
  externalId: "10001",
  issueKey: "A-1",
  projectKey: "A",
  isDeleted: false,
  createdAt: at,
  updatedAt: at
}
const issue: TrackedIssue = { ...bare, title: "Leak", state: "Open", url: "https://a.example/A-1" }
const request = { integrationId, amountMinor: 500 }

describe("siteOfLine and issueOfLine", () => {
  const metadata = { siteId: "one", issueId: "iss_1" }

  it("read the site and the issue of a line for a Jira issue", () => {
    assert.strictEqual(siteOfLine({ referenceType: "jira", metadata }), "one")
    assert.strictEqual(issueOfLine({ referenceType: "jira", metadata }), "iss_1")
  })

  it("are undefined for other lines and without valid metadata", () => {
    for (const line of [{ referenceType: "order", metadata }, { metadata }, { referenceType: "jira" }]) {
      assert.isUndefined(siteOfLine(line))
      assert.isUndefined(issueOfLine(line))
    }
    assert.isUndefined(issueOfLine({ referenceType: "jira", metadata: { issueId: "10001" } }))
  })
})

describe("canBeSameSite", () => {
  it("matches equal sites and a missing one", () => {
    assert.isTrue(canBeSameSite("one", "one"))
    assert.isTrue(canBeSameSite(undefined, "one"))
    assert.isTrue(canBeSameSite("one", undefined))
    assert.isFalse(canBeSameSite("one", "other"))
  })
})

describe("issueToLine", () => {
  it("bills an issue with all that is known of it", () => {
    assert.deepStrictEqual(issueToLine(issue, "one", { ...request, quantity: 2 }), {
      name: "A-1: Leak",
      amountMinor: 500,
      quantity: 2,
      referenceType: "jira",
      referenceId: "A-1",
      metadata: {
        issueKey: "A-1",
        issueId: "iss_1",
        siteId: "one",
        title: "Leak",
        url: "https://a.example/A-1",
        state: "Open"
      }
    })
  })

  it("leaves out what is unknown, and bills a quantity of 1 by default", () => {
    assert.deepStrictEqual(issueToLine(bare, undefined, request), {
      name: "A-1",
      amountMinor: 500,
      quantity: 1,
      referenceType: "jira",
      referenceId: "A-1",
      metadata: { issueKey: "A-1", issueId: "iss_1" }
    })
  })

  it("takes the tax rates of the request, also none", () => {
    for (const taxRateIds of [[], [TaxRateId.make("tax_1")]])
      assert.deepStrictEqual(issueToLine(issue, undefined, { ...request, taxRateIds }).taxRateIds, taxRateIds)
  })

  it("takes the name of the request, and the key alone for an empty title", () => {
    assert.strictEqual(issueToLine(issue, undefined, { ...request, name: "Work" }).name, "Work")
    assert.strictEqual(issueToLine({ ...issue, title: "" }, undefined, request).name, "A-1")
  })

  it("truncates a long title by characters", () => {
    const { metadata, name } = issueToLine({ ...issue, title: "\u{1F600}".repeat(600) }, undefined, request)
    assert.strictEqual(name, `A-1: ${"\u{1F600}".repeat(250)}`)
    assert.strictEqual(metadata?.["title"], "\u{1F600}".repeat(500))
  })
})

describe("toIssueErrors", () => {
  it("renames the reference of a line to the key in the request, and nothing else", () => {
    const detail = { constraint: "unique", message: "is already billed" } as const
    const fields = ["billables[12].referenceId", "billables[0].name", "xbillables[0].referenceId", "filter"]
    const renamed = toIssueErrors(validationError(...fields.map((field) => ({ ...detail, field }))), true)
    assert.strictEqual(renamed.message, "Request validation failed")
    assert.deepStrictEqual(
      renamed.details,
      ["issueKeys[12]", "billables[0].name", "xbillables[0].referenceId", "filter"].map((field) => ({
        ...detail,
        field
      }))
    )
    assert.strictEqual(
      toIssueErrors(fieldError("billables[1].referenceId.x", "unique", ""), true).details?.[0]?.field,
      "billables[1].referenceId.x"
    )
  })

  it("keeps the reference of a line that a filter selected", () => {
    const error = fieldError("billables[1].referenceId", "unique", "is already billed")
    assert.strictEqual(toIssueErrors(error, false).details?.[0]?.field, "billables[1].referenceId")
  })

  it("reports an error of the tax rates once, because all lines have the same", () => {
    const errors = [0, 10].flatMap((line) =>
      (["exists", "state"] as const).map((constraint) => ({
        field: `billables[${line}].taxRateIds[0]`,
        constraint,
        message: ""
      }))
    )
    for (const hasKeys of [true, false])
      assert.deepStrictEqual(toIssueErrors(validationError(...errors), hasKeys).details, [
        { field: "taxRateIds[0]", constraint: "exists", message: "" },
        { field: "taxRateIds[0]", constraint: "state", message: "" }
      ])
  })

  it("accepts an error without details", () => {
    assert.deepStrictEqual(toIssueErrors(new ValidationError({ message: "failed" }), true).details, [])
  })
})

describe("requireSelection, requireAllFound and requireBillableCount", () => {
  it("say what to select", () => {
    assert.deepStrictEqual(messagesOf(requireSelection({})), ["issueKeys required: is required unless filter is given"])
    assert.deepStrictEqual(messagesOf(requireSelection({ issueKeys: ["A-1"], filter: {} })), [
      "filter unknown: cannot be combined with issueKeys; send one of them"
    ])
    assert.deepStrictEqual(messagesOf(requireAllFound(["A-1"], new Map())), [
      'issueKeys[0] exists: does not exist: the integration has no issue "A-1"'
    ])
    assert.deepStrictEqual(messagesOf(requireBillableCount([])), ["filter minItems: matches no unbilled issue"])
    assert.deepStrictEqual(messagesOf(requireBillableCount(Array.from({ length: maxBillablesPerRequest + 1 }))), [
      "filter maxItems: matches more than 1000 unbilled issues; narrow it down"
    ])
  })
})

describe("requireReplayable", () => {
  const inbound = {
    id: InboundWebhookId.make("whk_1"),
    integration: integrationId,
    identifier: "1",
    kind: "jira:issue_updated",
    issueId: "10001",
    issueKey: "A-1",
    happenedAt: 1,
    status: "FAILED",
    attempts: 1,
    receivedAt: at
  } as const

  it("fails once the body is no longer stored", () => {
    assert.isUndefined(messagesOf(requireReplayable({ ...inbound, body: "" })))
    assert.deepStrictEqual(messagesOf(requireReplayable(inbound)), [
      "body state: is no longer stored, so the webhook cannot be replayed"
    ])
  })
})
