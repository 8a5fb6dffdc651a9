import { randomUUID } from "node:crypto"
import { assert } from "vitest"
import type { ApiProcesses } from "./apiProcesses.ts"

const maxAttempts = 600

/** Requests go to two processes in turn, and are repeated with the same idempotency key until one of them answers. */
export const startKillableApis = async (processes: ApiProcesses) => {
  const apis = await Promise.all([processes.start(), processes.start()])
  const authorization = `Bearer ${await processes.token("owner")}`
  let requests = 0
  let repeated = 0

  const send = async (method: string, path: string, tenant: string | undefined, key: string, body?: object) => {
    requests += 1
    try {
      const response = await fetch(`${apis[requests % apis.length]?.url}/api/v1${path}`, {
        method,
        headers: {
          authorization,
          ...(tenant === undefined ? {} : { "tenant-id": tenant }),
          ...(method === "POST" ? { "idempotency-key": key } : {}),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, text, body: JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  const call = async (method: string, path: string, tenant?: string, body?: object) => {
    const key = randomUUID()
    for (let attempt = 1; ; attempt++) {
      const response = await send(method, path, tenant, key, body)
      if (response !== undefined && response.status !== 503 && response.status !== 409) return response
      assert.isBelow(attempt, maxAttempts, `${method} ${path} is never answered: ${response?.text ?? "no response"}`)
      repeated += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  return {
    call,
    repeated: () => repeated,
    /** Kills the older process and starts another one. */
    replaceOne: async () => {
      await apis.shift()?.kill()
      apis.push(await processes.start())
    }
  }
}
