import { setTimeout as pause } from "node:timers/promises"
import { assert } from "vitest"
import type { RetryingCall } from "./retryingClient.ts"

/** One of the concurrent writers of a tenant, with the resources that only it changes. */
interface Writer {
  readonly tenant: string
  /** A client that every writer of the tenant changes. */
  readonly sharedClient: string
  readonly clients: Array<string>
  readonly contacts: Array<string>
}

const pickRandom = <A>(items: ReadonlyArray<A>): A | undefined => items[Math.floor(Math.random() * items.length)]

const removeRandom = (items: Array<string>) => items.splice(Math.floor(Math.random() * items.length), 1)[0]

/** The average pause between two writes of one writer. It makes the workload last as long as the kills need. */
const pauseMillis = 55

/** Writes over HTTP and counts the events of each write that the API has confirmed. */
export const makeWorkload = (call: RetryingCall) => {
  /** Number of events by resource and event type. */
  const confirmed = new Map<string, number>()
  let written = 0
  let names = 0

  const confirm = (resource: string, type: string) => {
    const key = `${resource} ${type}`
    confirmed.set(key, (confirmed.get(key) ?? 0) + 1)
    written += 1
  }
  const makeBody = () => ({ name: `Name ${names++}` })

  const create = async (tenant: string, kind: "client" | "contact", body: object) => {
    const response = await call("POST", `/api/v1/${kind}s`, { tenant, body })
    assert.strictEqual(response.status, 201, response.text)
    const id = String(response.body.data.id)
    confirm(id, `${kind}.created`)
    return id
  }

  const change = async (tenant: string, kind: "client" | "contact", id: string) => {
    const response = await call("PATCH", `/api/v1/${kind}s/${id}`, { tenant, body: makeBody() })
    assert.strictEqual(response.status, 200, response.text)
    confirm(id, `${kind}.updated`)
  }

  const remove = async (tenant: string, kind: "client" | "contact", id: string) => {
    const { isRetried, status, text } = await call("DELETE", `/api/v1/${kind}s/${id}`, { tenant })
    if (!(isRetried && status === 404)) assert.isBelow(status, 300, text)
    confirm(id, `${kind}.deleted`)
  }

  const writeOnce = async ({ clients, contacts, sharedClient, tenant }: Writer) => {
    const dice = Math.random()
    const [client, contact] = [pickRandom(clients), pickRandom(contacts)]
    if (dice < 0.12 || client === undefined) clients.push(await create(tenant, "client", makeBody()))
    else if (dice < 0.22) contacts.push(await create(tenant, "contact", { clientId: sharedClient, ...makeBody() }))
    else if (dice < 0.3) await change(tenant, "client", sharedClient)
    else if (dice < 0.8) await change(tenant, "client", client)
    else if (dice < 0.94 && contact !== undefined) await change(tenant, "contact", contact)
    else if (dice < 0.97 && contact !== undefined) await remove(tenant, "contact", removeRandom(contacts) ?? contact)
    else await remove(tenant, "client", removeRandom(clients) ?? client)
  }

  return {
    confirmed,
    countWritten: () => written,
    create,

    /** Writes until `count` events are confirmed, with several concurrent writers per tenant. */
    writeUntil: async (
      count: number,
      tenants: ReadonlyArray<Pick<Writer, "tenant" | "sharedClient">>,
      writersPerTenant: number
    ) => {
      const run = async (writer: Writer) => {
        while (written < count) {
          await writeOnce(writer)
          await pause(Math.random() * 2 * pauseMillis)
        }
      }
      await Promise.all(
        Array.from({ length: writersPerTenant * tenants.length }, (_, n) =>
          run({ ...(tenants[n % tenants.length] ?? assert.fail("there is no tenant")), clients: [], contacts: [] })
        )
      )
    }
  }
}

export type Workload = ReturnType<typeof makeWorkload>
