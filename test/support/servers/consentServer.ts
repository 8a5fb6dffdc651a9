import type { RequestListener } from "node:http"
import { withoutConsoleOutput } from "./identityProvider.ts"
import { serveOnLoopback } from "./loopback.ts"

const client = { id: "popup-client", secret: "popup-secret" }
const scope = "https://www.googleapis.com/auth/drive.file"

const configurationFor = (redirectUri: string) => ({
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: [redirectUri]
    }
  ],
  cookies: { keys: ["only-a-test"] },
  scopes: [scope],
  ttl: { AccessToken: 3600, Grant: 3600, Interaction: 3600, RefreshToken: 3600, Session: 3600 },
  findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  pkce: { required: () => true },
  issueRefreshToken: () => true,
  features: { devInteractions: { enabled: true }, revocation: { enabled: true } }
})

/** A certified OpenID provider with a consent page, in place of Google. */
export const startConsentServer = async (redirectUri: string) => {
  let handle: RequestListener = (_, response) => response.writeHead(503).end()
  const { stop, url } = await serveOnLoopback((request, response) => handle(request, response))
  await withoutConsoleOutput(async () => {
    const { Provider } = await import("oidc-provider")
    handle = new Provider(url, configurationFor(redirectUri)).callback()
  })
  const environment = {
    GOOGLE_CLIENT_ID: client.id,
    GOOGLE_CLIENT_SECRET: client.secret,
    GOOGLE_AUTHORIZE_URL: `${url}/auth`,
    GOOGLE_TOKEN_URL: `${url}/token`,
    GOOGLE_REVOKE_URL: `${url}/token/revocation`
  }
  return { url, environment, stop }
}
