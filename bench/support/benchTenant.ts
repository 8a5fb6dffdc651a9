import { Pool } from "undici"
import type { Server } from "../serverProcess.ts"

const connections = 32

interface CreatedResponse {
  readonly data: { readonly id: string }
}

const pending = new Promise<never>(() => {})

/** Creates a tenant and returns the operations of the benchmarks on it. */
export const createBenchTenant = async ({ baseUrl }: Pick<Server, "baseUrl">, token: string) => {
  const pool = new Pool(baseUrl, { connections })
  let tenant: string | undefined
  let isClosed = false

  const call = async (method: "POST" | "PATCH" | "DELETE", path: string, body?: object) => {
    if (isClosed) return pending // the measurement was interrupted: never resolve
    const { body: response, statusCode } = await pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (statusCode >= 300) throw new Error(`${method} ${path} returned ${statusCode}: ${text}`)
    return text
  }

  const create = async (path: string, body: object) => {
    const { data } = JSON.parse(await call("POST", path, body)) as CreatedResponse // the body of every 201
    return data.id
  }
  tenant = await create("/tenants", { name: "Bench" })
  let nameCounter = 0

  return {
    id: tenant,
    /** Creates a webhook integration, subscribed to all events of clients. */
    createWebhook: async (port: number) => {
      const id = await create("/integrations", {
        provider: "WEBHOOK",
        name: `Receiver ${port}`,
        config: { url: `http://127.0.0.1:${port}/hook` }
      })
      await create(`/integrations/${id}/subscriptions`, { eventType: "client.*" })
      return id
    },
    /** Creates a Jira integration that is not authorized. */
    createJira: () => create("/integrations", { provider: "JIRA", name: "Tracker" }),
    pause: (integration: string) => call("POST", `/integrations/${integration}/pause`),
    resume: (integration: string) => call("POST", `/integrations/${integration}/resume`),
    createClient: () => create("/clients", { name: `Client ${nameCounter++}` }),
    updateClient: (client: string) => call("PATCH", `/clients/${client}`, { name: `Changed ${nameCounter++}` }),
    delete: (path: string) => call("DELETE", path),
    close: () => {
      isClosed = true
      return pool.close()
    }
  }
}

export type BenchTenant = Awaited<ReturnType<typeof createBenchTenant>>
