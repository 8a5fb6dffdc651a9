import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { EventTypeFilter, requirePeriod, requireRedeliveryCapacity } from "../../../src/domain/delivery/Delivery.ts"
import { butIs } from "../../../src/domain/RejectedValue.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

describe("requirePeriod", () => {
  it("says that a period does not end before it starts", () => {
    const decision = requirePeriod({ since: "2026-01-02T00:00:00.000Z", until: "2026-01-01T00:00:00.000Z" })
    assert.deepStrictEqual(messagesOf(decision), [
      "until min: must not be before since, 2026-01-02T00:00:00.000Z, but is 2026-01-01T00:00:00.000Z"
    ])
  })
})

describe("requireRedeliveryCapacity", () => {
  it("says how many redeliveries are incomplete", () => {
    assert.deepStrictEqual(messagesOf(requireRedeliveryCapacity(12)), [
      "integrationId state: has 12 redeliveries in progress, which is the maximum; try again when one is complete"
    ])
  })
})

describe("EventTypeFilter", () => {
  it("accepts an event type, and all of a resource", () => {
    for (const filter of ["client.created", "client.*", "invoice_series.updated"])
      assert.isTrue(Schema.is(EventTypeFilter)(filter), filter)
  })

  it.each(["client", "*", "client.**", "Client.created", "client.created.", "_a.b", ""])("rejects %s", (filter) => {
    assert.deepStrictEqual(schemaErrorsOf(EventTypeFilter, filter), [
      butIs("body pattern: must be an event type such as client.created, or client.* for all events of a resource")(
        filter
      )
    ])
  })
})
