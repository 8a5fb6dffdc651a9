import { Agent, get } from "node:http"
import { Effect } from "effect"

const intervalMillis = 200
const timeoutMillis = 5000
export const probePaths = ["/healthz", "/readyz"] as const

/** The responses of a health check during a measurement. */
export interface ProbeResult {
  readonly path: string
  readonly count: number
  readonly maxMillis: number
  readonly failures: number
}

/** Like an orchestrator: a new connection for each probe. */
export const probeOnce = (baseUrl: string, path: string) =>
  new Promise<boolean>((resolve) => {
    const request = get(
      baseUrl + path,
      { agent: new Agent({ keepAlive: false }), timeout: timeoutMillis },
      (response) => {
        response.resume()
        response.once("end", () => resolve(response.statusCode === 200))
      }
    )
    request.once("timeout", () => request.destroy())
    request.once("error", () => resolve(false))
  })

const startProbe = (baseUrl: string, path: string) => {
  const requests: Array<Promise<void>> = []
  let [maxMillis, failures] = [0, 0]
  const probe = async () => {
    const startedAt = performance.now()
    if (!(await probeOnce(baseUrl, path))) failures++
    maxMillis = Math.max(maxMillis, performance.now() - startedAt)
  }
  const timer = setInterval(() => requests.push(probe()), intervalMillis)
  return async (): Promise<ProbeResult> => {
    clearInterval(timer)
    await Promise.all(requests)
    return { path, count: requests.length, maxMillis, failures }
  }
}

/** Probes both health checks five times a second while the work runs. */
export const withProbes = <A, E, R>(baseUrl: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const probes = probePaths.map((path) => startProbe(baseUrl, path))
    const stop = Effect.promise(() => Promise.all(probes.map((end) => end())))
    const result = yield* Effect.onInterrupt(work, () => stop)
    return { result, probes: yield* stop }
  })
