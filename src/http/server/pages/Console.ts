import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { NotFound } from "../../../domain/Errors.ts"
import { acceptsDevelopmentTokens } from "../../../layers/infra/auth/DevelopmentKey.ts"
import { Settings, type SettingsShape } from "../../../layers/infra/config/Settings.ts"
import type { PlainRoute } from "../AnonymousRequests.ts"
import type { HttpResponse } from "../response/HttpResponse.ts"

/** The build writes the console next to the bundle. */
const folder = new URL(import.meta.url.endsWith(".ts") ? "../../../../dist/console/" : "./console/", import.meta.url)

export const consolePath = "/console"
const assetsPath = `${consolePath}/assets`

const Manifest = Schema.parseJson(
  Schema.Struct({
    script: Schema.String,
    preloads: Schema.Array(Schema.String),
    style: Schema.String,
    files: Schema.Array(Schema.String)
  })
)

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8"
}

/** The identity provider, whose token endpoint the page calls. Without one the page calls only this service. */
const providerOrigin = ({ AUTH_ISSUER, CONSOLE_OIDC_CLIENT_ID }: SettingsShape) =>
  CONSOLE_OIDC_CLIENT_ID === undefined || AUTH_ISSUER === undefined ? undefined : new URL(AUTH_ISSUER).origin

const policyOf = (settings: SettingsShape) => {
  const provider = providerOrigin(settings)
  return [
    "default-src 'self'",
    ...(provider === undefined ? [] : [`connect-src 'self' ${provider}`]),
    "frame-src blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const escapeAttribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** What the page has to know before anybody signs in. */
const pageSettings = (settings: SettingsShape) => {
  const { AUTH_AUDIENCE, AUTH_ISSUER, CONSOLE_OIDC_CLIENT_ID } = settings
  return {
    development: acceptsDevelopmentTokens(settings),
    ...(providerOrigin(settings) === undefined
      ? {}
      : { oidc: { issuer: AUTH_ISSUER, clientId: CONSOLE_OIDC_CLIENT_ID, audience: AUTH_AUDIENCE } })
  }
}

const pageOf = ({ preloads, script, style }: typeof Manifest.Type, settings: SettingsShape) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Contracting console</title>
<link rel="icon" href="${assetsPath}/icon.svg">
<link rel="stylesheet" href="${assetsPath}/${style}">
${preloads.map((name) => `<link rel="modulepreload" href="${assetsPath}/${name}">`).join("\n")}
<script type="module" src="${assetsPath}/${script}"></script>
<body data-settings="${escapeAttribute(JSON.stringify(pageSettings(settings)))}">
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#14633a"/><path d="M10 8h12v16l-3-2-3 2-3-2-3 2z" fill="#fff"/></svg>`

const makePage = (manifest: typeof Manifest.Type, settings: SettingsShape): HttpResponse => ({
  status: 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf(settings),
    "referrer-policy": "no-referrer",
    // The page names the current assets, so a browser must ask for it again.
    "cache-control": "no-cache"
  },
  body: pageOf(manifest, settings)
})

const loadAssets = async ({ files }: typeof Manifest.Type) => {
  const assets = await Promise.all(
    files.map(
      async (name): Promise<[string, HttpResponse]> => [
        name,
        {
          status: 200,
          headers: {
            "content-type": contentTypes[name.split(".").at(-1) ?? ""] ?? "application/octet-stream",
            "content-encoding": "gzip",
            "cache-control": "public, max-age=31536000, immutable"
          },
          body: await readFile(new URL(`${name}.gz`, folder))
        }
      ]
    )
  )
  return new Map(assets)
}

const iconResponse: HttpResponse = {
  status: 200,
  headers: { "content-type": "image/svg+xml", "cache-control": "public, max-age=86400" },
  body: icon
}

/** The console: one page for every address below it, and its hashed assets. None with CONSOLE=off. */
export const makeConsoleRoutes = Effect.gen(function* () {
  const settings = yield* Settings
  if (settings.CONSOLE === "off") return []
  const text = yield* Effect.promise(() => readFile(new URL("manifest.json", folder), "utf8"))
  const manifest = yield* Effect.orDie(Schema.decode(Manifest)(text))
  const assets = yield* Effect.promise(() => loadAssets(manifest))
  assets.set("icon.svg", iconResponse)
  const page = makePage(manifest, settings)
  const nameOf = (url = "") => url.split("?", 1)[0]?.slice(assetsPath.length + 1) ?? ""
  const routes: ReadonlyArray<PlainRoute> = [
    { path: consolePath, respond: () => Effect.succeed(page) },
    { path: `${consolePath}/*`, respond: () => Effect.succeed(page) },
    {
      path: `${assetsPath}/*`,
      respond: ({ url }) => {
        const asset = assets.get(nameOf(url))
        return asset === undefined ? Effect.fail(new NotFound()) : Effect.succeed(asset)
      }
    }
  ]
  return routes
})
