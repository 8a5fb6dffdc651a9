import { assert, describe, it } from "vitest"
import { ClientId } from "../../../src/domain/contracting/Client.ts"
import {
  requireNewSubscription,
  requireSupportedEvent,
  resolveScopeKey
} from "../../../src/domain/integrations/CreateSubscription.ts"
import { SubscriptionId } from "../../../src/domain/integrations/Subscription.ts"
import { assertPasses, errorsOf, messagesOf } from "../../support/assertions/decisions.ts"

const clientId = ClientId.make("clnt_1")
const eventType = "client.created"

describe("resolveScopeKey", () => {
  it("derives the scope key from the client, or takes the whole tenant", () => {
    assertPasses(resolveScopeKey({ eventType }), "tenant")
    assertPasses(resolveScopeKey({ eventType, clientId }), "client:clnt_1")
  })

  it("accepts the derived scope key and no other", () => {
    assertPasses(resolveScopeKey({ eventType, scopeKey: "tenant" }), "tenant")
    assertPasses(resolveScopeKey({ eventType, clientId, scopeKey: "client:clnt_1" }), "client:clnt_1")
    assert.deepStrictEqual(messagesOf(resolveScopeKey({ eventType, clientId, scopeKey: "tenant" })), [
      'scopeKey enum: must be client:clnt_1 or be omitted, but is "tenant"'
    ])
  })
})

describe("requireSupportedEvent", () => {
  it("accepts every event for all providers but GOOGLE_DRIVE and EMAIL", () => {
    for (const provider of ["JIRA", "WEBHOOK", "NATS"] as const)
      assert.isUndefined(errorsOf(requireSupportedEvent(provider, "client.*")))
  })

  it("accepts only invoice.finalized for GOOGLE_DRIVE", () => {
    assert.isUndefined(errorsOf(requireSupportedEvent("GOOGLE_DRIVE", "invoice.finalized")))
    assert.deepStrictEqual(messagesOf(requireSupportedEvent("GOOGLE_DRIVE", "invoice.*")), [
      "eventType enum: must be invoice.finalized for GOOGLE_DRIVE, but is invoice.*"
    ])
  })

  it("accepts only finalized documents for EMAIL", () => {
    for (const type of ["invoice.finalized", "credit_note.finalized"])
      assert.isUndefined(errorsOf(requireSupportedEvent("EMAIL", type)))
    assert.deepStrictEqual(messagesOf(requireSupportedEvent("EMAIL", "invoice.sent")), [
      "eventType enum: must be invoice.finalized or credit_note.finalized for EMAIL, but is invoice.sent"
    ])
  })
})

describe("requireNewSubscription", () => {
  const existing = [{ id: SubscriptionId.make("sub_1"), eventType, scopeKey: "tenant" }]

  it("accepts another event type or another scope", () => {
    assert.isUndefined(errorsOf(requireNewSubscription(existing, { eventType: "client.*", scopeKey: "tenant" }, 2)))
    assert.isUndefined(errorsOf(requireNewSubscription(existing, { eventType, scopeKey: "client:clnt_1" }, 2)))
  })

  it("rejects a duplicate of any existing subscription", () => {
    const others = [{ id: SubscriptionId.make("sub_2"), eventType: "client.*", scopeKey: "tenant" }, ...existing]
    assert.deepStrictEqual(messagesOf(requireNewSubscription(others, { eventType, scopeKey: "tenant" }, 9)), [
      "eventType unique: is already subscribed for tenant"
    ])
  })

  it("rejects more subscriptions than the quota", () => {
    const decision = requireNewSubscription(existing, { eventType: "client.*", scopeKey: "tenant" }, 1)
    assert.deepStrictEqual(errorsOf(decision), ["eventType quota"])
  })
})
