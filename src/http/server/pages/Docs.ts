import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { OpenApiDocument } from "../../api/OpenApi.ts"
import type { PlainRoute } from "../Listener.ts"
import { type HttpResponse, jsonResponse } from "../response/HttpResponse.ts"

const startScript = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null })`

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Contracting service</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="docs"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${startScript}</script>
</html>
`

/** Allows only same-origin resources, the viewer's script and, by hash, the line that starts it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash("sha256").update(startScript).digest("base64")}'`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

const swaggerFolder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))

const loadAsset = (name: string, contentType: string): Effect.Effect<PlainRoute> =>
  Effect.map(
    Effect.promise(() => readFile(join(swaggerFolder, name))),
    (body) => ({
      path: `/docs/${name}`,
      response: Effect.succeed<HttpResponse>({
        status: 200,
        headers: { "content-type": contentType, "cache-control": "public, max-age=3600" },
        body
      })
    })
  )

/** The OpenAPI document and Swagger UI. The package bundles the viewer's files, so the docs work offline. */
export const makeDocsRoutes = (document: OpenApiDocument) =>
  Effect.map(
    Effect.all([
      loadAsset("swagger-ui.css", "text/css; charset=utf-8"),
      loadAsset("swagger-ui-bundle.js", "text/javascript; charset=utf-8")
    ]),
    (assets): ReadonlyArray<PlainRoute> => [
      ...assets,
      { path: "/openapi.json", response: Effect.succeed(jsonResponse(200, JSON.stringify(document))) },
      {
        path: "/docs",
        response: Effect.succeed<HttpResponse>({
          status: 200,
          headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": contentSecurityPolicy },
          body: page
        })
      }
    ]
  )
