import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { assert } from "vitest"
import type { ServiceResponse } from "../../support/servers/service.ts"

const timeoutMillis = 90_000

interface Options {
  readonly tenant?: string
  readonly body?: object
}

interface RetriedResponse extends ServiceResponse {
  /** Sent more than once: the service may have committed an earlier attempt without responding. */
  readonly isRetried: boolean
}

/** Sends a request to these APIs in turn until one responds, each time with the same Idempotency-Key. */
export const makeRetryingCall = (urls: ReadonlyArray<string>, token: string) => {
  let attempts = 0

  const tryOnce = async (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) => {
    try {
      const response = await fetch(`${urls[attempts++ % urls.length]}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      if (response.status === 503) return undefined
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text === "" ? undefined : JSON.parse(text)
      }
    } catch {
      return undefined // not running, or killed before it responded
    }
  }

  return async (method: string, path: string, { body, tenant }: Options = {}): Promise<RetriedResponse> => {
    const headers = {
      authorization: `Bearer ${token}`,
      "idempotency-key": randomUUID(),
      ...(tenant === undefined ? {} : { "tenant-id": tenant }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    }
    for (const end = Date.now() + timeoutMillis, tries = { count: 1 }; Date.now() < end; tries.count++) {
      const response = await tryOnce(method, path, headers, body)
      if (response !== undefined) return { ...response, isRetried: tries.count > 1 }
      await pause(50 + Math.random() * 100)
    }
    return assert.fail(`No API responds to ${method} ${path}`)
  }
}

export type RetryingCall = ReturnType<typeof makeRetryingCall>

/** Calls the API for a tenant, requires success and returns the response's data. */
export const makeTenantCall =
  (call: RetryingCall, tenant: string) => async (method: string, path: string, body?: object) => {
    const response = await call(method, `/api/v1${path}`, { tenant, ...(body === undefined ? {} : { body }) })
    assert.isBelow(response.status, 300, `${method} ${path}: ${response.text}`)
    return response.body?.data
  }
