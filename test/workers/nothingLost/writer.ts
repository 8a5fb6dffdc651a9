import { setTimeout as pause } from "node:timers/promises"
import { assert } from "vitest"
import type { Call } from "./caller.ts"

/** One of those who write at the same time, and what is his alone to change. */
interface Desk {
  readonly tenant: string
  /** Changed by everybody of the tenant. */
  readonly shared: string
  readonly clients: Array<string>
  readonly contacts: Array<string>
}

const some = <A>(items: ReadonlyArray<A>): A | undefined => items[Math.floor(Math.random() * items.length)]

const takeSome = (items: Array<string>) => items.splice(Math.floor(Math.random() * items.length), 1)[0]

/** So many on average between two writes of one desk: the storm has to have time to rage. */
const paceMillis = 55

/** Writes over HTTP whatever happens, and keeps what it was told is written. */
export const makeWriter = (call: Call) => {
  /** By resource and type of event, how many of them were promised. */
  const promised = new Map<string, number>()
  let written = 0
  let names = 0

  const promise = (resource: string, type: string) => {
    const key = `${resource} ${type}`
    promised.set(key, (promised.get(key) ?? 0) + 1)
    written += 1
  }
  const fresh = () => ({ name: `Name ${names++}` })

  const create = async (tenant: string, kind: "client" | "contact", body: object) => {
    const answer = await call("POST", `/api/v1/${kind}s`, { tenant, body })
    assert.strictEqual(answer.status, 201, answer.text)
    const id = String(answer.body.data.id)
    promise(id, `${kind}.created`)
    return id
  }

  const change = async (tenant: string, kind: "client" | "contact", id: string) => {
    const answer = await call("PATCH", `/api/v1/${kind}s/${id}`, { tenant, body: fresh() })
    assert.strictEqual(answer.status, 200, answer.text)
    promise(id, `${kind}.updated`)
  }

  const remove = async (tenant: string, kind: "client" | "contact", id: string) => {
    const { isRepeated, status, text } = await call("DELETE", `/api/v1/${kind}s/${id}`, { tenant })
    if (!(isRepeated && status === 404)) assert.isBelow(status, 300, text)
    promise(id, `${kind}.deleted`)
  }

  const write = async ({ clients, contacts, shared, tenant }: Desk) => {
    const dice = Math.random()
    const [client, contact] = [some(clients), some(contacts)]
    if (dice < 0.12 || client === undefined) clients.push(await create(tenant, "client", fresh()))
    else if (dice < 0.22) contacts.push(await create(tenant, "contact", { clientId: shared, ...fresh() }))
    else if (dice < 0.3) await change(tenant, "client", shared)
    else if (dice < 0.8) await change(tenant, "client", client)
    else if (dice < 0.94 && contact !== undefined) await change(tenant, "contact", contact)
    else if (dice < 0.97 && contact !== undefined) await remove(tenant, "contact", takeSome(contacts) ?? contact)
    else await remove(tenant, "client", takeSome(clients) ?? client)
  }

  return {
    promised,
    written: () => written,
    create,

    /** Until so many are written, at several desks a tenant. */
    writeUntil: async (count: number, tenants: ReadonlyArray<Pick<Desk, "tenant" | "shared">>, desks: number) => {
      const work = async (desk: Desk) => {
        while (written < count) {
          await write(desk)
          await pause(Math.random() * 2 * paceMillis)
        }
      }
      await Promise.all(
        Array.from({ length: desks * tenants.length }, (_, n) =>
          work({ ...(tenants[n % tenants.length] ?? assert.fail("nobody to write for")), clients: [], contacts: [] })
        )
      )
    }
  }
}

export type Writer = ReturnType<typeof makeWriter>
