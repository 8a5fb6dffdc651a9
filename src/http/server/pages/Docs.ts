import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { Document } from "../../api/Document.ts"
import type { PlainRoute } from "../Listener.ts"
import { type Answer, jsonAnswer } from "../response/Answer.ts"

const start = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null })`

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Contracting service</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="docs"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${start}</script>
</html>
`

/** Nothing is loaded from elsewhere, and no script runs but the viewer's and the line that starts it. */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash("sha256").update(start).digest("base64")}'`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))

const asset = (name: string, contentType: string): Effect.Effect<PlainRoute> =>
  Effect.map(
    Effect.promise(() => readFile(join(folder, name))),
    (body) => ({
      path: `/docs/${name}`,
      answer: Effect.succeed<Answer>({
        status: 200,
        headers: { "content-type": contentType, "cache-control": "public, max-age=3600" },
        body
      })
    })
  )

/** The interface for machines and for people; the viewer's files come with the service, so it works offline. */
export const docsRoutes = (document: Document) =>
  Effect.map(
    Effect.all([
      asset("swagger-ui.css", "text/css; charset=utf-8"),
      asset("swagger-ui-bundle.js", "text/javascript; charset=utf-8")
    ]),
    (assets): ReadonlyArray<PlainRoute> => [
      ...assets,
      { path: "/openapi.json", answer: Effect.succeed(jsonAnswer(200, JSON.stringify(document))) },
      {
        path: "/docs",
        answer: Effect.succeed<Answer>({
          status: 200,
          headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
          body: page
        })
      }
    ]
  )
