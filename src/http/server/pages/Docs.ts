import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import { exampleId } from "../../../domain/Ids.ts"
import type { OpenApiDocument } from "../../api/OpenApi.ts"
import type { PlainRoute } from "../AnonymousRequests.ts"
import { jsonResponse } from "../response/HttpResponse.ts"
import { developmentSubject, developmentTokenPath } from "./DevelopmentToken.ts"
import { cspHashOf, htmlResponse } from "./HtmlPage.ts"
import { toViewerDocument } from "./ViewerDocument.ts"

const viewerPath = "/docs/viewer.js"
const viewerDocumentPath = "/docs/openapi.json"

/** `npm run docs` takes it from its package, and the build copies it next to the bundle. */
const viewerFile = new URL("./docs-viewer.js.gz", import.meta.url)

/** Without anything that the viewer would request from other hosts: fonts, telemetry, proxies, chat. */
const configuration = {
  url: viewerDocumentPath,
  authentication: { preferredSecurityScheme: "bearer" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  defaultOpenFirstTag: false,
  documentDownloadType: "none",
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true }
}

const startScript = `
const configuration = ${JSON.stringify(configuration)}
const reference = Scalar.createApiReference("#docs", configuration)
`

/**
 * Fills in a token and a tenant with one click. The viewer then sends them with every request that it tries. The tenant
 * takes the place of the one in the examples; a user without any gets one.
 */
const tokenScript = `
const button = document.getElementById("token")
const findTenant = async (authorization) => {
  const headers = { authorization, "content-type": "application/json" }
  const send = async (request) => (await (await fetch("/api/v1/tenants", { headers, ...request })).json()).data
  const [tenant] = await send({})
  return tenant ?? send({ method: "POST", body: JSON.stringify({ name: "First tenant" }) })
}
button.onclick = async () => {
  const response = await fetch(${JSON.stringify(developmentTokenPath)})
  if (!response.ok) {
    button.textContent = "No token: open this page on the machine of the service, or run npm run token"
    return
  }
  const token = await response.text()
  const tenant = await findTenant("Bearer " + token)
  const { url, ...others } = configuration
  const text = await (await fetch(url)).text()
  reference.updateConfiguration({
    ...others,
    content: text.replaceAll(${JSON.stringify(exampleId("tnt"))}, tenant.id),
    authentication: { ...configuration.authentication, securitySchemes: { bearer: { token } } }
  })
  button.textContent = "Token filled in: you are ${developmentSubject} in " + tenant.name
  button.onclick = () => button.remove()
}
`

const style = `
body { margin: 0 }
#token {
  position: fixed; right: 1rem; bottom: 1rem; z-index: 10; padding: 0.6rem 1rem; border: 0; border-radius: 0.5rem;
  background: #14532d; color: #fff; font: 600 0.9rem system-ui, sans-serif; cursor: pointer
}
`

const pageOf = (script: string, button: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contracting service: API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<main id="docs"></main>
${button}<script src="${viewerPath}"></script>
<script>${script}</script>
</html>
`

const makeDocsPage = ({ hasTokenButton }: DocsOptions) => {
  const script = hasTokenButton ? startScript + tokenScript : startScript
  const button = hasTokenButton ? `<button id="token">Use a development token</button>\n` : ""
  return htmlResponse(
    pageOf(script, button),
    `script-src 'self' ${cspHashOf(script)}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'"
  )
}

/** As bytes, which all responses share until they are read. */
const documentResponse = (document: object) => jsonResponse(200, Buffer.from(JSON.stringify(document)))

interface DocsOptions {
  /** Whether the page offers a development token. */
  readonly hasTokenButton: boolean
}

/**
 * The OpenAPI document and a page to browse and try it. All files are local, so the page works offline. The document is
 * made for the first request that reads it: it takes a good part of the time that everything else needs to start.
 */
export const makeDocsRoutes = (makeDocument: () => OpenApiDocument, options: DocsOptions) =>
  Effect.gen(function* () {
    const viewer = yield* Effect.promise(() => readFile(viewerFile))
    const document = yield* Effect.cached(Effect.sync(makeDocument))
    const responses = {
      "/openapi.json": yield* Effect.cached(Effect.map(document, documentResponse)),
      [viewerDocumentPath]: yield* Effect.cached(
        Effect.map(document, (document) => documentResponse(toViewerDocument(document)))
      ),
      [viewerPath]: Effect.succeed({
        status: 200,
        headers: {
          "content-type": "text/javascript; charset=utf-8",
          "content-encoding": "gzip",
          "cache-control": "public, max-age=3600"
        },
        body: viewer
      }),
      "/docs": Effect.succeed(makeDocsPage(options))
    }
    return Object.entries(responses).map(
      ([path, response]): PlainRoute => ({
        path: path as PlainRoute["path"], // Object.entries widens the keys to string
        respond: () => response
      })
    )
  })
