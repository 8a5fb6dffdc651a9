import type pg from "pg"
import { assert } from "vitest"
import type { Subscriber } from "./subscribers.ts"

export interface CommittedEvent {
  readonly tenant: string
  readonly id: string
  readonly type: string
  readonly resource: string
  readonly client: string | null
  readonly sequence: number
}

export interface ReceivedEvent {
  readonly id: string
  readonly text: string
}

export const readHistory = async (pool: pg.Pool) => {
  const { rows } = await pool.query<CommittedEvent>(
    `select tenant_id as tenant, id, type, resource_id as resource, client_id as client, sequence
     from events order by tenant_id, resource_id, sequence`
  )
  return rows
}

/** The events that match a subscriber's subscriptions, selected without the service's own queries. */
export const expectedEventsOf = (history: ReadonlyArray<CommittedEvent>, { subscriptions, tenant }: Subscriber) =>
  history.filter(
    (event) =>
      event.tenant === tenant &&
      subscriptions.some(
        ({ clientId, eventType }) =>
          (eventType === event.type || eventType === `${event.type.split(".")[0]}.*`) &&
          (clientId === undefined || clientId === event.client)
      )
  )

const idsByResource = (events: ReadonlyArray<CommittedEvent>) => {
  const ids = new Map<string, Array<string>>()
  for (const { id, resource } of events) ids.set(resource, [...(ids.get(resource) ?? []), id])
  return ids
}

/**
 * Asserts that a subscriber received every expected event and no other, the events of each resource in order, and the
 * same bytes whenever an event came more than once.
 */
export const assertReceivedAll = (
  subscriber: string,
  expected: ReadonlyArray<CommittedEvent>,
  received: ReadonlyArray<ReceivedEvent>
) => {
  const texts = new Map<string, string>()
  for (const { id, text } of received) {
    assert.strictEqual(text, texts.get(id) ?? text, `${subscriber}: two deliveries of ${id} differ`)
    texts.set(id, text)
  }
  const expectedById = new Map(expected.map((event) => [event.id, event]))
  assert.deepStrictEqual(
    [...texts.keys()].filter((id) => !expectedById.has(id)),
    [],
    `${subscriber} received events that it is not subscribed to`
  )
  assert.deepStrictEqual(
    expected.filter(({ id }) => !texts.has(id)),
    [],
    `${subscriber} misses events`
  )
  const inOrderOfArrival = [...texts.keys()].flatMap((id) => expectedById.get(id) ?? [])
  const arrived = idsByResource(inOrderOfArrival)
  for (const [resource, ids] of idsByResource(expected))
    assert.deepStrictEqual(arrived.get(resource), ids, `${subscriber}: order of ${resource}`)
  for (const [id, text] of texts) assert.strictEqual(JSON.parse(text).id, id)
  return texts
}
