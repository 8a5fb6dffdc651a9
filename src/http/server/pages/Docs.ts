import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import type { OpenApiDocument } from "../../api/OpenApi.ts"
import type { PlainRoute } from "../Listener.ts"
import { jsonResponse } from "../response/HttpResponse.ts"
import { withCodeSamples } from "./CodeSamples.ts"
import { developmentSubject, developmentTokenPath } from "./DevelopmentToken.ts"
import { cspHashOf, htmlResponse } from "./HtmlPage.ts"

const viewerPath = "/docs/viewer.js"
const viewerDocumentPath = "/docs/openapi.json"

/** The build writes the viewer next to the bundle. */
const viewerFile = new URL(
  import.meta.url.endsWith(".ts") ? "../../../../dist/docs-viewer.js.gz" : "./docs-viewer.js.gz",
  import.meta.url
)

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

/** Fills in a token with one click. The viewer then sends it with every request that it tries. */
const tokenScript = `
const button = document.getElementById("token")
button.onclick = async () => {
  const response = await fetch(${JSON.stringify(developmentTokenPath)})
  if (!response.ok) {
    button.textContent = "No token: open this page on the machine of the service, or run npm run token"
    return
  }
  const authentication = {
    ...configuration.authentication,
    securitySchemes: { bearer: { token: await response.text() } }
  }
  reference.updateConfiguration({ ...configuration, authentication })
  button.textContent = "Token filled in: you are ${developmentSubject}"
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

interface DocsOptions {
  /** Whether the page offers a development token. */
  readonly hasTokenButton: boolean
}

/** The OpenAPI document and a page to browse and try it. All files are local, so the page works offline. */
export const makeDocsRoutes = (document: OpenApiDocument, options: DocsOptions) =>
  Effect.map(
    Effect.promise(() => readFile(viewerFile)),
    (viewer): ReadonlyArray<PlainRoute> => {
      const responses = {
        "/openapi.json": jsonResponse(200, JSON.stringify(document)),
        [viewerDocumentPath]: jsonResponse(200, JSON.stringify(withCodeSamples(document))),
        [viewerPath]: {
          status: 200,
          headers: {
            "content-type": "text/javascript; charset=utf-8",
            "content-encoding": "gzip",
            "cache-control": "public, max-age=3600"
          },
          body: viewer
        },
        "/docs": makeDocsPage(options)
      } as const
      return Object.entries(responses).map(([path, response]) => ({
        path: path as PlainRoute["path"], // Object.entries widens the keys to string
        respond: () => Effect.succeed(response)
      }))
    }
  )
