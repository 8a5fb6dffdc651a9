import type pg from "pg"
import { assert } from "vitest"
import type { Listener } from "./audience.ts"

/** An event as it was committed. */
export interface Committed {
  readonly tenant: string
  readonly id: string
  readonly type: string
  readonly resource: string
  readonly client: string | null
  readonly sequence: number
}

export interface Told {
  readonly id: string
  readonly text: string
}

export const readHistory = async (pool: pg.Pool) => {
  const { rows } = await pool.query<Committed>(
    `select tenant_id as tenant, id, type, resource_id as resource, client_id as client, sequence
     from events order by tenant_id, resource_id, sequence`
  )
  return rows
}

/** What an integration has to be told, found out without any of the service's own statements. */
export const meantFor = (history: ReadonlyArray<Committed>, { subscriptions, tenant }: Listener) =>
  history.filter(
    (event) =>
      event.tenant === tenant &&
      subscriptions.some(
        ({ clientId, eventType }) =>
          (eventType === event.type || eventType === `${event.type.split(".")[0]}.*`) &&
          (clientId === undefined || clientId === event.client)
      )
  )

const idsByResource = (events: ReadonlyArray<Committed>) => {
  const lists = new Map<string, Array<string>>()
  for (const { id, resource } of events) lists.set(resource, [...(lists.get(resource) ?? []), id])
  return lists
}

/** Everything that was meant, nothing else, each resource in its order, and the same words each time. */
export const assertToldAll = (who: string, meant: ReadonlyArray<Committed>, told: ReadonlyArray<Told>) => {
  const texts = new Map<string, string>()
  for (const { id, text } of told) {
    assert.strictEqual(text, texts.get(id) ?? text, `${who}: ${id} was told in other words`)
    texts.set(id, text)
  }
  const known = new Map(meant.map((event) => [event.id, event]))
  assert.deepStrictEqual(
    [...texts.keys()].filter((id) => !known.has(id)),
    [],
    `${who} was told of what is not for it`
  )
  assert.deepStrictEqual(
    meant.filter(({ id }) => !texts.has(id)),
    [],
    `${who} was not told`
  )
  const inOrderOfArrival = [...texts.keys()].flatMap((id) => known.get(id) ?? [])
  const arrived = idsByResource(inOrderOfArrival)
  for (const [resource, ids] of idsByResource(meant))
    assert.deepStrictEqual(arrived.get(resource), ids, `${who}: ${resource}`)
  for (const [id, text] of texts) assert.strictEqual(JSON.parse(text).id, id)
  return texts
}
