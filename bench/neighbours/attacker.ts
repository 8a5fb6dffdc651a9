import { type Api, type ApiResponse, type CallOptions, connectApi, type Method, parseId } from "./api.ts"

const connections = 96
const pauseMillis = 100
const prepareTimeoutMillis = 120_000

const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMillis))

const isRejected = ({ status }: ApiResponse) => status === 429 || status === 503

/** A caller with ordinary permissions in tenants of its own. Counts its responses. */
export const connectAttacker = (baseUrl: string, token: string) => {
  const api: Api = connectApi(baseUrl, token, connections)
  const responseCounts = new Map<string, number>()
  const countResponse = (key: string) => responseCounts.set(key, (responseCounts.get(key) ?? 0) + 1)

  const call = async (method: Method, path: string, options: CallOptions = {}): Promise<ApiResponse> => {
    try {
      const response = await api.call(method, path, options)
      countResponse(String(response.status))
      return response
    } catch (error) {
      if (options.signal?.aborted !== true) {
        countResponse("no response")
        await pause()
      }
      return { status: 0, text: error instanceof Error ? error.message : "" }
    }
  }

  /** Retries while the service rejects the request because of rate or load: the attack depends on it. */
  const callUntilAccepted = async (method: Method, path: string, options: CallOptions = {}) => {
    const startedAt = performance.now()
    for (;;) {
      const response = await call(method, path, options)
      if (!isRejected(response) || performance.now() - startedAt > prepareTimeoutMillis) return response
      await pause()
    }
  }

  const requireCreated = async (path: string, options: CallOptions = {}) => {
    const response = await callUntilAccepted("POST", path, options)
    if (response.status >= 300 || response.status === 0) {
      throw new Error(`POST ${path} of the attacker returned ${response.status}: ${response.text.slice(0, 200)}`)
    }
    return response
  }

  return {
    request: api.request,
    countResponse,
    call,
    callUntilAccepted,
    create: async (path: string, options: CallOptions = {}) => parseId(await requireCreated(path, options)),
    createTenant: async () => parseId(await requireCreated("/tenants", { body: { name: "Attacker" } })),
    responseCounts: (): ReadonlyMap<string, number> => responseCounts,
    close: api.close
  }
}

export type Attacker = ReturnType<typeof connectAttacker>

interface RepeatOptions {
  readonly concurrency: number
  readonly signal?: AbortSignal
  readonly total?: number
}

const maxTotal = 1_000_000

/** Repeats work with the given concurrency until the signal aborts or `total` is reached. */
export const repeat = async (
  { concurrency, total = maxTotal, signal }: RepeatOptions,
  work: (n: number) => Promise<unknown>
) => {
  let next = 0
  const runNext = async () => {
    while (signal?.aborted !== true && next < total) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
}
