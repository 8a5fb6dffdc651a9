import { Pool } from "undici"
import type { Server } from "../serverProcess.ts"

const connections = 32

interface Shown {
  readonly data: { readonly id: string }
}

const never = new Promise<never>(() => {})

/** A tenant of one measurement, and what is asked for in it. */
export const makeTenant = async ({ base }: Pick<Server, "base">, token: string) => {
  const pool = new Pool(base, { connections })
  let tenant: string | undefined
  let isClosed = false

  const call = async (method: "POST" | "PATCH" | "DELETE", path: string, body?: object) => {
    if (isClosed) return never // whoever still asks was told to stop
    const { body: answer, statusCode } = await pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (statusCode >= 300) throw new Error(`${method} ${path} was answered ${statusCode}: ${text}`)
    return text
  }

  const made = async (path: string, body: object) => {
    const { data } = JSON.parse(await call("POST", path, body)) as Shown // as every answer to a POST that makes something
    return data.id
  }
  tenant = await made("/tenants", { name: "Bench" })
  let clients = 0

  return {
    id: tenant,
    /** An integration that is told of everything about clients. */
    hook: async (port: number) => {
      const id = await made("/integrations", {
        provider: "WEBHOOK",
        name: `Receiver ${port}`,
        config: { url: `http://127.0.0.1:${port}/hook` }
      })
      await made(`/integrations/${id}/subscriptions`, { eventType: "client.*" })
      return id
    },
    /** An integration with a tracker, which nobody has authorized yet. */
    tracker: () => made("/integrations", { provider: "JIRA", name: "Tracker" }),
    pause: (integration: string) => call("POST", `/integrations/${integration}/pause`),
    resume: (integration: string) => call("POST", `/integrations/${integration}/resume`),
    addClient: () => made("/clients", { name: `Client ${clients++}` }),
    changeClient: (client: string) => call("PATCH", `/clients/${client}`, { name: `Changed ${clients++}` }),
    remove: (path: string) => call("DELETE", path),
    close: () => {
      isClosed = true
      return pool.close()
    }
  }
}

export type BenchTenant = Awaited<ReturnType<typeof makeTenant>>
