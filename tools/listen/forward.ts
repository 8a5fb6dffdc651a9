import { type Event, signWebhook } from "../../dist/client/index.js"

export interface Forwarded {
  /** The status of the response, or why there was none. */
  readonly result: string
  readonly isAccepted: boolean
  readonly ms: number
}

/** As long as the service waits for a receiver. */
const timeoutMs = 15_000

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.name === "TimeoutError") return "timeout"
  const { cause } = error
  return cause instanceof Error && "code" in cause ? String(cause.code) : error.message
}

/** Sends an event to a receiver, signed as the service signs its webhooks. */
export const forwardEvent = async (
  event: Event,
  { secret, signal, url }: { readonly url: string; readonly secret: string; readonly signal: AbortSignal }
): Promise<Forwarded> => {
  const body = JSON.stringify(event)
  const headers = { "content-type": "application/json", ...(await signWebhook({ id: event.id, body, secret })) }
  const startedAt = performance.now()
  const ms = () => Math.round(performance.now() - startedAt)
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    // The service takes a redirect for a failure, too.
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: limit })
    await response.arrayBuffer()
    return { result: String(response.status), isAccepted: response.ok, ms: ms() }
  } catch (error) {
    return { result: reasonOf(error), isAccepted: false, ms: ms() }
  }
}
