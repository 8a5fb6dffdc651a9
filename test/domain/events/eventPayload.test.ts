import { Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { Event, eventSchemaName, eventSchemas } from "../../../src/domain/events/Event.ts"
import { EventPattern, eventTypes, expandEventPattern } from "../../../src/domain/events/EventCatalogue.ts"
import { encodeEventPayload } from "../../../src/domain/events/EventPayload.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const client = {
  id: "clnt_1",
  name: "Northwind",
  media: [],
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z"
}
const payload = {
  id: "evt_1",
  type: "client.created",
  timestamp: "2026-01-01T00:00:00.000Z",
  tenant: "tnt_1",
  client: "clnt_1",
  sequence: 1,
  createdBy: "alice",
  data: JSON.stringify(client)
}

describe("encodeEventPayload", () => {
  it("puts the recorded data into the event as it is", () => {
    assert.strictEqual(
      encodeEventPayload({ ...payload, data: '{"b": 1, "a":2}' }),
      '{"id":"evt_1","type":"client.created","timestamp":"2026-01-01T00:00:00.000Z","tenant":"tnt_1",' +
        '"client":"clnt_1","sequence":1,"createdBy":"alice","data":{"b": 1, "a":2}}'
    )
  })

  it("leaves out the client and the user of an event without one", () => {
    const encoded = JSON.parse(encodeEventPayload({ ...payload, client: undefined, createdBy: undefined }))
    assert.doesNotHaveAnyKeys(encoded, ["client", "createdBy"])
  })

  it("makes an event of the catalogue", () => {
    assert.isTrue(Schema.is(Event)(JSON.parse(encodeEventPayload(payload))))
  })
})

describe("expandEventPattern", () => {
  it("lists a type itself", () => {
    assert.deepStrictEqual(expandEventPattern("client.created"), ["client.created"])
  })

  it("lists all types of a resource, and of no other that starts alike", () => {
    assert.deepStrictEqual(expandEventPattern("client.*"), ["client.created", "client.updated", "client.deleted"])
    assert.deepStrictEqual(expandEventPattern("invoice_series.*"), ["invoice_series.updated"])
    assert.deepStrictEqual(expandEventPattern("invoice.*"), [
      "invoice.created",
      "invoice.updated",
      "invoice.deleted",
      "invoice.finalized",
      "invoice.paid",
      "invoice.reopened",
      "invoice.written_off",
      "invoice.voided",
      "invoice.send_requested",
      "invoice.sent",
      "invoice.bounced",
      "invoice.viewed",
      "invoice.link_rotated",
      "invoice.link_revoked"
    ])
  })
})

describe("EventPattern", () => {
  it("says what an event type looks like", () => {
    assert.deepStrictEqual(schemaErrorsOf(EventPattern, "client"), [
      `body enum: must be an event type such as client.created, or client.* for all events of a resource, but is "client"`
    ])
    const decoded = Schema.decodeUnknownEither(EventPattern)("client")
    assert.match(Either.isLeft(decoded) ? decoded.left.message : "", /^must be an event type/)
  })
})

describe("eventSchemas", () => {
  it("are named after their types and accept their own type only", () => {
    assert.strictEqual(eventSchemaName("client.created"), "Event.client.created")
    const events = eventTypes.map(({ type }) => ({ ...payload, type, data: client }))
    const index = eventTypes.findIndex(({ type }) => type === "client.created")
    const accepted = eventSchemas[index]
    assert.isDefined(accepted)
    assert.deepStrictEqual(events.filter(Schema.is(Schema.make(accepted.ast))), events.slice(index, index + 1))
  })

  it("contain the issue before and after the change of a billed reference", () => {
    const changed = eventTypes.find(({ type }) => type === "billable.reference_changed")
    const created = eventTypes.find(({ type }) => type === "billable.created")
    assert.notStrictEqual(changed?.schema, created?.schema)
  })
})
