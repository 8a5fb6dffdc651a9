import type { IncomingMessage } from "node:http"

const exposedHeaders =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, x-request-id, Idempotent-Replayed"
const allowedHeaders = "Authorization, Content-Type, tenant-id, Idempotency-Key, If-Match, If-None-Match, x-request-id"
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

/** Adds CORS headers for an allowed origin, and none for any other. */
export const makeCors = (origins: ReadonlyArray<string>) => {
  const allowedOrigins = new Set(origins)
  return (request: IncomingMessage, headers: Record<string, string>) => {
    if (allowedOrigins.size === 0) return
    headers["vary"] = "Origin"
    const { origin } = request.headers
    if (origin === undefined || !allowedOrigins.has(origin)) return
    headers["access-control-allow-origin"] = origin
    headers["access-control-expose-headers"] = exposedHeaders
    if (request.method !== "OPTIONS") return
    headers["access-control-allow-headers"] = allowedHeaders
    headers["access-control-allow-methods"] = allowedMethods
    headers["access-control-max-age"] = "600"
  }
}
