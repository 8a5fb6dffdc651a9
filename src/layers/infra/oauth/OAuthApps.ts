import { Effect, Redacted } from "effect"
import { isOAuthProvider, type OAuthProvider } from "../../../domain/integrations/Authorization.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import { Settings } from "../config/Settings.ts"

/** Our OAuth client registration with a provider, and the provider's endpoints. */
export interface OAuthApp {
  readonly provider: OAuthProvider
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  readonly authorizeUrl: string
  readonly tokenUrl: string
  /** Undefined when the provider has no revocation endpoint. */
  readonly revokeUrl: string | undefined
  readonly redirectUri: string
  readonly encoding: "form" | "json"
  readonly scopes: ReadonlyArray<string>
  /** Requested to obtain a refresh token. The provider does not list them among the granted scopes. */
  readonly offlineScopes: ReadonlyArray<string>
  /** Non-standard query parameters of the authorization URL. */
  readonly authorizeParameters: Readonly<Record<string, string>>
}

const jira = {
  provider: "JIRA",
  encoding: "json",
  scopes: ["read:jira-work", "manage:jira-webhook"],
  offlineScopes: ["offline_access"],
  authorizeParameters: { audience: "api.atlassian.com", prompt: "consent" }
} as const satisfies Partial<OAuthApp>

const google = {
  provider: "GOOGLE_DRIVE",
  encoding: "form",
  scopes: ["https://www.googleapis.com/auth/drive.file"],
  offlineScopes: [],
  authorizeParameters: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" }
} as const satisfies Partial<OAuthApp>

const callbackPath = "/api/v1/integrations/oauth/callback"

/** The OAuth apps of all providers, built from the settings. */
export class OAuthApps extends Effect.Service<OAuthApps>()("layers/OAuthApps", {
  effect: Effect.map(Settings, (settings) => {
    const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL } = settings
    const requiredSettings: Readonly<Record<OAuthProvider, object>> = {
      JIRA: { JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL },
      GOOGLE_DRIVE: { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL }
    }
    const missingSettings = (provider: Provider) =>
      isOAuthProvider(provider)
        ? Object.entries(requiredSettings[provider]).flatMap(([name, value]) => (value === undefined ? [name] : []))
        : []
    // Empty strings stand in for missing settings: callers reject a provider with missing settings before they use its app.
    const redirectUri = `${(PUBLIC_URL ?? "").replace(/\/+$/, "")}${callbackPath}`
    const apps: Readonly<Record<OAuthProvider, OAuthApp>> = {
      JIRA: {
        ...jira,
        clientId: JIRA_CLIENT_ID ?? "",
        clientSecret: JIRA_CLIENT_SECRET ?? Redacted.make(""),
        authorizeUrl: settings.JIRA_AUTHORIZE_URL,
        tokenUrl: settings.JIRA_TOKEN_URL,
        revokeUrl: undefined,
        redirectUri
      },
      GOOGLE_DRIVE: {
        ...google,
        clientId: GOOGLE_CLIENT_ID ?? "",
        clientSecret: GOOGLE_CLIENT_SECRET ?? Redacted.make(""),
        authorizeUrl: settings.GOOGLE_AUTHORIZE_URL,
        tokenUrl: settings.GOOGLE_TOKEN_URL,
        revokeUrl: settings.GOOGLE_REVOKE_URL,
        redirectUri
      }
    }
    return {
      /** Names of the unset settings that a provider requires. */
      missingSettings,
      of: (provider: OAuthProvider) => apps[provider]
    }
  })
}) {}

/** The provider page where a user grants access. */
export const buildAuthorizationUrl = (app: OAuthApp, state: string, challenge: string) => {
  const url = new URL(app.authorizeUrl)
  const parameters = {
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: [...app.scopes, ...app.offlineScopes].join(" "),
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...app.authorizeParameters
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
