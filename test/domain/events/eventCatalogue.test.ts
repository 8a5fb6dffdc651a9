import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { eventSchemaName, eventSchemas } from "../../../src/domain/events/Event.ts"
import { EventPattern, eventCatalogue, eventTypes } from "../../../src/domain/events/EventCatalogue.ts"
import { integrationTransitions } from "../../../src/domain/integrations/IntegrationStatus.ts"
import { invoiceTransitions } from "../../../src/domain/invoicing/InvoiceStatus.ts"

const isPattern = Schema.is(EventPattern)
const types = eventTypes.map(({ type }) => type)

describe("The event catalogue", () => {
  it("lists each type once, as resource.action", () => {
    assert.lengthOf(new Set(types), types.length)
    for (const type of types) assert.match(type, /^[a-z_]+\.[a-z_]+$/)
    assert.includeMembers(types, ["client.created", "invoice.voided", "asset.failed", "integration.ping"])
  })

  it("has an event type for every transition of an invoice or an integration", () => {
    for (const { event } of Object.values(invoiceTransitions)) assert.include(types, `invoice.${event}`)
    for (const { event } of Object.values(integrationTransitions)) assert.include(types, `integration.${event}`)
  })

  it("defines the event patterns: one type or all types of a resource", () => {
    for (const type of types) assert.isTrue(isPattern(type))
    for (const resource of Object.keys(eventCatalogue)) assert.isTrue(isPattern(`${resource}.*`))
    for (const other of ["client", "*", "client.", "client.**", "*.created", "issue.moved", ""]) {
      assert.isFalse(isPattern(other), other)
    }
  })

  it("has a schema for each type, under a valid OpenAPI component name", () => {
    assert.lengthOf(eventSchemas, types.length)
    for (const type of types) assert.match(eventSchemaName(type), /^[\w.-]+$/)
  })
})
