import { Agent, get } from "node:http"
import { Effect } from "effect"

const everyMillis = 200
const timeoutMillis = 5000
export const probedPaths = ["/healthz", "/readyz"] as const

/** How a health page answered while something else went on. */
export interface Probe {
  readonly path: string
  readonly count: number
  readonly maxMillis: number
  readonly failures: number
}

/** As an orchestrator asks: over a connection of its own each time. */
const ask = (base: string, path: string) =>
  new Promise<boolean>((resolve) => {
    const request = get(base + path, { agent: new Agent({ keepAlive: false }), timeout: timeoutMillis }, (response) => {
      response.resume()
      response.once("end", () => resolve(response.statusCode === 200))
    })
    request.once("timeout", () => request.destroy())
    request.once("error", () => resolve(false))
  })

const startProbing = (base: string, path: string) => {
  const begun: Array<Promise<void>> = []
  let [maxMillis, failures] = [0, 0]
  const one = async () => {
    const began = performance.now()
    if (!(await ask(base, path))) failures++
    maxMillis = Math.max(maxMillis, performance.now() - began)
  }
  const timer = setInterval(() => begun.push(one()), everyMillis)
  return async (): Promise<Probe> => {
    clearInterval(timer)
    await Promise.all(begun)
    return { path, count: begun.length, maxMillis, failures }
  }
}

/** Asks both health pages five times a second as long as the work takes. */
export const withProbes = <A, E, R>(base: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const probes = probedPaths.map((path) => startProbing(base, path))
    const stop = Effect.promise(() => Promise.all(probes.map((end) => end())))
    const found = yield* Effect.onInterrupt(work, () => stop)
    return { found, probes: yield* stop }
  })
