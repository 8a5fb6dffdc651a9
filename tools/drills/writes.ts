import { setTimeout as pause } from "node:timers/promises"
import { ensure } from "./stage.ts"

interface Write {
  readonly name: string
  readonly answeredAt: number
  /** 0 if the connection failed. */
  readonly status: number
  readonly id?: string
}

interface Target {
  /** The addresses of the apis, used in turn. */
  readonly urls: ReadonlyArray<string>
  readonly token: string
}

export type Call = (
  method: string,
  path: string,
  body?: object
) => Promise<{ readonly status: number; readonly body: { readonly data: { readonly id: string } } }>

/** Calls the apis as the owner of a new tenant. */
export const openTenant = async ({ token, urls }: Target) => {
  let calls = 0
  let tenant: string | undefined
  const call: Call = async (method, path, body) => {
    calls += 1
    const response = await fetch(`${urls[calls % urls.length]}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  }
  const created = await call("POST", "/tenants", { name: "Drill" })
  ensure(created.status === 201, `The tenant was not created: ${created.status}`)
  tenant = created.body.data.id
  return { call, tenant }
}

/** Creates clients at a steady rate until it is stopped. Does not wait for responses, as independent callers do not. */
export const startWriting = (call: Call, perSecond: number) => {
  const writes: Array<Write> = []
  const pending = new Set<Promise<void>>()
  let isStopped = false
  let count = 0

  const write = async () => {
    const name = `Client ${++count}`
    try {
      const { body, status } = await call("POST", "/clients", { name })
      writes.push({ name, answeredAt: Date.now(), status, ...(status === 201 ? { id: body.data.id } : {}) })
    } catch {
      writes.push({ name, answeredAt: Date.now(), status: 0 })
    }
  }

  const run = async () => {
    const startedAt = Date.now()
    while (!isStopped) {
      while (count < ((Date.now() - startedAt) / 1000) * perSecond) {
        const one = write().finally(() => pending.delete(one))
        pending.add(one)
      }
      await pause(5)
    }
    await Promise.all(pending)
  }
  const done = run()

  return {
    writes,
    created: () => writes.filter(({ status }) => status === 201),
    countByStatus: () => {
      const counts: Record<string, number> = {}
      for (const { status } of writes) counts[status] = (counts[status] ?? 0) + 1
      return counts
    },
    stop: () => {
      isStopped = true
      return done
    }
  }
}

export type Writing = ReturnType<typeof startWriting>
