import type { IncomingMessage } from "node:http"

const exposed = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, x-request-id, Idempotent-Replayed"
const allowedHeaders = "Authorization, Content-Type, tenant-id, Idempotency-Key, If-Match, If-None-Match, x-request-id"
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

/** Headers that let a page of a known origin read the answer; none for any other. */
export const makeCors = (origins: ReadonlyArray<string>) => {
  const known = new Set(origins)
  return (request: IncomingMessage): Record<string, string> => {
    const { origin } = request.headers
    if (origin === undefined || !known.has(origin)) return known.size === 0 ? {} : { vary: "Origin" }
    const shared = { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "Origin" }
    return request.method === "OPTIONS"
      ? {
          ...shared,
          "access-control-allow-headers": allowedHeaders,
          "access-control-allow-methods": allowedMethods,
          "access-control-max-age": "600"
        }
      : shared
  }
}
