import { request } from "node:http"
import { serveOnLoopback } from "../support/servers/loopback.ts"

export interface Attempt {
  readonly method: string
  readonly path: string
  readonly key: string | undefined
  readonly at: number
}

/** What a caller gets in place of a response: a 503 with this `Retry-After`, or a broken connection. */
type Failure = number | "disconnect"

/** Forwards requests to the service. The first attempt of every POST does its work too, but its response is lost. */
export const startUnreliableProxy = async (target: string, failureOf: (path: string) => Failure) => {
  const attempts: Array<Attempt> = []
  const { stop, url } = await serveOnLoopback((incoming, outgoing) => {
    const { method = "", url: path = "" } = incoming
    const key = incoming.headers["idempotency-key"]?.toString()
    const isFirst = method === "POST" && attempts.every((attempt) => attempt.key !== key)
    attempts.push({ method, path, key, at: performance.now() })
    const forwarded = request(target + path, { method, headers: incoming.headers }, (response) => {
      if (!isFirst) {
        outgoing.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(outgoing)
        return
      }
      response.resume().once("end", () => {
        const failure = failureOf(path)
        if (failure === "disconnect") return outgoing.destroy()
        outgoing.writeHead(503, {
          "retry-after": String(failure),
          "content-type": "application/json",
          "x-request-id": "req_lost"
        })
        return outgoing.end(JSON.stringify({ error: "ServiceUnavailable", message: "Service Unavailable" }))
      })
    })
    incoming.pipe(forwarded)
  })
  return { url, attempts, stop }
}
