import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { assert } from "vitest"
import type { ServiceResponse } from "../../support/servers/service.ts"

const patienceMillis = 90_000

interface Options {
  readonly tenant?: string
  readonly body?: object
}

interface Answer extends ServiceResponse {
  /** Asked more than once: an earlier one may have been obeyed without an answer. */
  readonly isRepeated: boolean
}

/** Asks whichever of these is there, for as long as it takes; each time with the same Idempotency-Key. */
export const makeCaller = (urls: ReadonlyArray<string>, token: string) => {
  let turn = 0

  const once = async (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) => {
    try {
      const response = await fetch(`${urls[turn++ % urls.length]}${path}`, {
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
      return undefined // nobody there, or killed before it had answered
    }
  }

  return async (method: string, path: string, { body, tenant }: Options = {}): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${token}`,
      "idempotency-key": randomUUID(),
      ...(tenant === undefined ? {} : { "tenant-id": tenant }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    }
    for (const end = Date.now() + patienceMillis, tries = { count: 1 }; Date.now() < end; tries.count++) {
      const answer = await once(method, path, headers, body)
      if (answer !== undefined) return { ...answer, isRepeated: tries.count > 1 }
      await pause(50 + Math.random() * 100)
    }
    return assert.fail(`Nobody answers ${method} ${path}`)
  }
}

export type Call = ReturnType<typeof makeCaller>

/** For what must succeed: tells what was answered. */
export const callIn = (call: Call, tenant: string) => async (method: string, path: string, body?: object) => {
  const answer = await call(method, `/api/v1${path}`, { tenant, ...(body === undefined ? {} : { body }) })
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer.body?.data
}
