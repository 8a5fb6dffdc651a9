import { Pool } from "undici"
import type { Server } from "../serverProcess.ts"

const connections = 32

interface CreatedResponse {
  readonly data: { readonly id: string }
}

const pending = new Promise<never>(() => {})

/** A tenant of one measurement, and what is asked for in it. */
export const createBenchTenant = async ({ baseUrl }: Pick<Server, "baseUrl">, token: string) => {
  const pool = new Pool(baseUrl, { connections })
  let tenant: string | undefined
  let isClosed = false

  const call = async (method: "POST" | "PATCH" | "DELETE", path: string, body?: object) => {
    if (isClosed) return pending // whoever still asks was told to stop
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
    if (statusCode >= 300) throw new Error(`${method} ${path} was answered ${statusCode}: ${text}`)
    return text
  }

  const create = async (path: string, body: object) => {
    const { data } = JSON.parse(await call("POST", path, body)) as CreatedResponse // as every answer to a POST that makes something
    return data.id
  }
  tenant = await create("/tenants", { name: "Bench" })
  let nameCounter = 0

  return {
    id: tenant,
    /** An integration that is told of everything about clients. */
    createWebhook: async (port: number) => {
      const id = await create("/integrations", {
        provider: "WEBHOOK",
        name: `Receiver ${port}`,
        config: { url: `http://127.0.0.1:${port}/hook` }
      })
      await create(`/integrations/${id}/subscriptions`, { eventType: "client.*" })
      return id
    },
    /** An integration with a tracker, which nobody has authorized yet. */
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
