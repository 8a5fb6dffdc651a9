import type { IncomingMessage } from "node:http"

const exposedHeaders =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, x-request-id, Idempotent-Replayed"
const allowedHeaders = "Authorization, Content-Type, tenant-id, Idempotency-Key, If-Match, If-None-Match, x-request-id"
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

/** Adds CORS headers for an allowed origin, and none for any other. */
export const makeCors = (origins: ReadonlyArray<string>) => {
  const allowedOrigins = new Set(origins)
  return (request: IncomingMessage): Record<string, string> => {
    const { origin } = request.headers
    if (origin === undefined || !allowedOrigins.has(origin)) return allowedOrigins.size === 0 ? {} : { vary: "Origin" }
    const corsHeaders = {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposedHeaders,
      vary: "Origin"
    }
    return request.method === "OPTIONS"
      ? {
          ...corsHeaders,
          "access-control-allow-headers": allowedHeaders,
          "access-control-allow-methods": allowedMethods,
          "access-control-max-age": "600"
        }
      : corsHeaders
  }
}
