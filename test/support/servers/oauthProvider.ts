import { createHash, randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { serveOnLoopback } from "./loopback.ts"

export interface RecordedRequest {
  readonly path: string
  readonly contentType: string
  readonly authorization: string | undefined
  readonly fields: Readonly<Record<string, string>>
}

/** A response in place of the default one: a status with a body, or none at all. */
export type ResponseOverride = { readonly status: number; readonly body: unknown } | "silence"

interface Consent {
  readonly challenge: string
  readonly redirectUri: string
  readonly scope: string
}

export const publicUrl = "https://api.example.test"
export const trustedOrigin = "https://app.example.test"
export const clientSecret = "planted-client-secret"

const randomValue = (kind: string) => `planted-${kind}-${randomBytes(9).toString("hex")}`

const fieldsOf = (body: string, contentType: string): Record<string, string> =>
  contentType.startsWith("application/json") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))

/** Settings that use a server at `url` for both providers. */
export const oauthSettings = (url: string) => ({
  PUBLIC_URL: publicUrl,
  OAUTH_TRUSTED_ORIGINS: `${trustedOrigin},https://other.example.test`,
  JIRA_CLIENT_ID: "jira-client",
  JIRA_CLIENT_SECRET: clientSecret,
  JIRA_AUTHORIZE_URL: `${url}/authorize`,
  JIRA_TOKEN_URL: `${url}/token`,
  JIRA_API_URL: url,
  GOOGLE_CLIENT_ID: "google-client",
  GOOGLE_CLIENT_SECRET: clientSecret,
  GOOGLE_AUTHORIZE_URL: `${url}/authorize`,
  GOOGLE_TOKEN_URL: `${url}/token`,
  GOOGLE_REVOKE_URL: `${url}/revoke`
})

/** Issues tokens after a consent, checks the code verifier, and rotates refresh tokens. */
const makeTokenIssuer = () => {
  const consents = new Map<string, Consent>()
  const refreshTokens = new Map<string, string>()
  const issued: Array<string> = []
  const issue = (scope: string) => {
    const [access_token, refresh_token] = [randomValue("access"), randomValue("refresh")]
    issued.push(access_token, refresh_token)
    refreshTokens.set(refresh_token, scope)
    return { status: 200, body: { access_token, refresh_token, scope, expires_in: 3600, token_type: "Bearer" } }
  }
  const invalidGrant = { status: 400, body: { error: "invalid_grant", error_description: "no such thing" } }

  const token = (fields: Readonly<Record<string, string>>) => {
    if (fields["client_secret"] !== clientSecret) return { status: 401, body: { error: "invalid_client" } }
    const given = fields["code"] ?? fields["refresh_token"] ?? ""
    if (fields["grant_type"] === "refresh_token") {
      const scope = refreshTokens.get(given)
      refreshTokens.delete(given)
      return scope === undefined ? invalidGrant : issue(scope)
    }
    const consent = consents.get(given)
    consents.delete(given)
    const challenge = createHash("sha256")
      .update(fields["code_verifier"] ?? "")
      .digest("base64url")
    const isProved = consent?.challenge === challenge && consent.redirectUri === fields["redirect_uri"]
    return isProved ? issue(consent.scope) : invalidGrant
  }
  return { consents, issued, token }
}

/** An OAuth provider in place of Jira and Google. A test can override its responses. */
export const startOAuthProvider = async () => {
  const issuer = makeTokenIssuer()
  const requests: Array<RecordedRequest> = []
  const overrides = new Map<string, ResponseOverride>()
  let delay = 0
  let sites: ReadonlyArray<object> = [{ id: "site-1", name: "One", url: "https://one.example.test", scopes: [] }]

  const responseTo = ({ fields, path }: RecordedRequest): ResponseOverride => {
    const override = overrides.get(path)
    if (override !== undefined) return override
    if (path === "/token") return issuer.token(fields)
    if (path === "/oauth/token/accessible-resources") return { status: 200, body: sites }
    return { status: path === "/revoke" ? 200 : 404, body: {} }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const contentType = request.headers["content-type"] ?? ""
    const path = (request.url ?? "").split("?", 1)[0] ?? ""
    const fields = fieldsOf(await text(request), contentType)
    const recorded = { path, contentType, fields, authorization: request.headers.authorization }
    requests.push(recorded)
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    const result = responseTo(recorded)
    if (result === "silence") return
    response.writeHead(result.status, { "content-type": "application/json" }).end(JSON.stringify(result.body))
  }
  /** Consents to the requested scopes, or to fewer. Returns the parameters of the redirect. */
  const consent = (authorizationUrl: string, scope?: string) => {
    const parameters = new URL(authorizationUrl).searchParams
    const code = randomValue("code")
    issuer.consents.set(code, {
      challenge: parameters.get("code_challenge") ?? "",
      redirectUri: parameters.get("redirect_uri") ?? "",
      scope: scope ?? parameters.get("scope") ?? ""
    })
    return { code, state: parameters.get("state") ?? "" }
  }
  /** A consent page that redirects at once. */
  const redirect = (authorizationUrl: string, response: ServerResponse) => {
    const target = new URL(new URL(authorizationUrl).searchParams.get("redirect_uri") ?? "")
    target.search = new URLSearchParams(consent(authorizationUrl)).toString()
    response.writeHead(302, { location: target.href }).end()
  }
  const { stop, url } = await serveOnLoopback((request, response) =>
    request.method === "GET" && request.url?.startsWith("/authorize?")
      ? redirect(new URL(request.url, url).href, response)
      : void serve(request, response)
  )

  return {
    url,
    stop,
    environment: oauthSettings(url),
    requests,
    issued: issuer.issued,
    requestsTo: (path: string) => requests.filter((recorded) => recorded.path === path),
    /** Overrides the response to a path, or restores the default one. */
    overrideResponse: (path: string, override: ResponseOverride | undefined) =>
      override === undefined ? overrides.delete(path) : overrides.set(path, override),
    setDelay: (millis: number) => {
      delay = millis
    },
    setSites: (all: ReadonlyArray<object>) => {
      sites = all
    },
    consent
  }
}

export type OAuthProviderServer = Awaited<ReturnType<typeof startOAuthProvider>>
