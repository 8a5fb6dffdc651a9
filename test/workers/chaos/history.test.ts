import { assert, describe, it } from "vitest"
import { assertReceivedAll, type CommittedEvent, expectedEventsOf, type ReceivedEvent } from "./history.ts"

const makeEvent = (resource: string, sequence: number, fields: Partial<CommittedEvent> = {}): CommittedEvent => ({
  tenant: "one",
  id: `${resource}.${sequence}`,
  type: "client.updated",
  resource,
  client: resource,
  sequence,
  ...fields
})

const receive = ({ id }: CommittedEvent): ReceivedEvent => ({ id, text: JSON.stringify({ id }) })

const a1 = makeEvent("a", 1)
const a2 = makeEvent("a", 2)
const b1 = makeEvent("b", 1)
const expected = [a1, a2, b1]

describe("assertReceivedAll of the chaos test", () => {
  const accept = (...events: ReadonlyArray<CommittedEvent>) =>
    assertReceivedAll("webhook", expected, events.map(receive))
  const assertFails = (message: RegExp, ...received: ReadonlyArray<ReceivedEvent>) =>
    assert.throws(() => assertReceivedAll("webhook", expected, received), message)

  it("accepts any order of different resources, and duplicates", () => {
    accept(a1, a2, b1)
    accept(b1, a1, a2)
    accept(a1, b1, a1, a2, b1, a1)
  })

  it("fails when an event is missing", () => {
    assertFails(/webhook misses events/, ...[a1, b1].map(receive))
    assertFails(/webhook misses events/)
  })

  it("fails when the events of a resource are out of order, even if the right order comes again later", () => {
    assertFails(/webhook: order of a/, ...[a2, a1, b1].map(receive))
    assertFails(/webhook: order of a/, ...[a2, a1, a2, b1].map(receive))
  })

  it("fails when an event was not expected", () => {
    assertFails(/not subscribed to/, ...[...expected, makeEvent("c", 1)].map(receive))
  })

  it("fails when a duplicate differs", () => {
    assertFails(/two deliveries of a\.1 differ/, ...expected.map(receive), {
      id: a1.id,
      text: `${receive(a1).text} `
    })
  })

  it("fails when a body has the id of another event", () => {
    assertFails(/a\.2/, receive(a1), { ...receive(a2), text: receive(b1).text }, receive(b1))
  })
})

describe("expectedEventsOf of the chaos test", () => {
  const selectIds = (eventType: string, clientId?: string) =>
    expectedEventsOf([a1, makeEvent("b", 1, { type: "contact.created" }), makeEvent("a", 3, { tenant: "other" })], {
      id: "webhook",
      tenant: "one",
      subscriptions: [{ eventType, ...(clientId === undefined ? {} : { clientId }) }]
    }).map(({ id }) => id)

  it("selects events by tenant, event type and client", () => {
    assert.deepStrictEqual(selectIds("client.*"), ["a.1"])
    assert.deepStrictEqual(selectIds("client.updated"), ["a.1"])
    assert.deepStrictEqual(selectIds("client.created"), [])
    assert.deepStrictEqual(selectIds("contact.*", "b"), ["b.1"])
    assert.deepStrictEqual(selectIds("contact.*", "a"), [])
  })
})
