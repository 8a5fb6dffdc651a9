import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { eventSchemaName, eventSchemas } from "../../../src/domain/events/Event.ts"
import { EventPattern, eventCatalogue, eventTypes } from "../../../src/domain/events/EventCatalogue.ts"
import { integrationTransitions } from "../../../src/domain/integrations/IntegrationStatus.ts"
import { invoiceTransitions } from "../../../src/domain/invoicing/InvoiceStatus.ts"

const isPattern = Schema.is(EventPattern)
const types = eventTypes.map(({ type }) => type)

describe("the catalogue of events", () => {
  it("names each type once, as a resource and what happened to it", () => {
    assert.lengthOf(new Set(types), types.length)
    for (const type of types) assert.match(type, /^[a-z_]+\.[a-z_]+$/)
    assert.includeMembers(types, ["client.created", "invoice.voided", "asset.failed", "integration.ping"])
  })

  it("has what every move of an invoice or an integration is told as", () => {
    for (const { event } of Object.values(invoiceTransitions)) assert.include(types, `invoice.${event}`)
    for (const { event } of Object.values(integrationTransitions)) assert.include(types, `integration.${event}`)
  })

  it("is what can be subscribed to, type by type or resource by resource", () => {
    for (const type of types) assert.isTrue(isPattern(type))
    for (const resource of Object.keys(eventCatalogue)) assert.isTrue(isPattern(`${resource}.*`))
    for (const other of ["client", "*", "client.", "client.**", "*.created", "issue.moved", ""]) {
      assert.isFalse(isPattern(other), other)
    }
  })

  it("has a schema for each type, under a name the document can hold", () => {
    assert.lengthOf(eventSchemas, types.length)
    for (const type of types) assert.match(eventSchemaName(type), /^[\w.-]+$/)
  })
})
