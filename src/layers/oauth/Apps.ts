import { Effect, Redacted } from "effect"
import { isOAuth, type OAuthProvider } from "../../domain/integrations/Authorization.ts"
import type { Provider } from "../../domain/integrations/Provider.ts"
import { Settings } from "../config/Settings.ts"

/** What we are to a provider, and how it wants to be talked to. */
export interface App {
  readonly provider: OAuthProvider
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  readonly authorizeUrl: string
  readonly tokenUrl: string
  /** Where tokens are given back, with a provider that takes them. */
  readonly revokeUrl: string | undefined
  readonly redirectUri: string
  readonly encoding: "form" | "json"
  readonly scopes: ReadonlyArray<string>
  /** Asked for to get a token that lasts, and not told of among what was granted. */
  readonly silentScopes: ReadonlyArray<string>
  /** What the provider's own page wants to know beyond the standard. */
  readonly parameters: Readonly<Record<string, string>>
}

const jira = {
  provider: "JIRA",
  encoding: "json",
  scopes: ["read:jira-work", "manage:jira-webhook"],
  silentScopes: ["offline_access"],
  parameters: { audience: "api.atlassian.com", prompt: "consent" }
} as const

const google = {
  provider: "GOOGLE_DRIVE",
  encoding: "form",
  scopes: ["https://www.googleapis.com/auth/drive.file"],
  silentScopes: [],
  parameters: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" }
} as const

/** Where providers send people back to. */
const callbackPath = "/api/v1/integrations/oauth/callback"

/** The providers this server was told how to reach, as their settings say. */
export class OAuthApps extends Effect.Service<OAuthApps>()("layers/OAuthApps", {
  effect: Effect.map(Settings, (settings) => {
    const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL } = settings
    const needed: Readonly<Record<OAuthProvider, object>> = {
      JIRA: { JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL },
      GOOGLE_DRIVE: { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL }
    }
    const missing = (provider: Provider) =>
      isOAuth(provider)
        ? Object.entries(needed[provider]).flatMap(([name, value]) => (value === undefined ? [name] : []))
        : []
    // What is missing is asked for before an app is used.
    const redirectUri = `${(PUBLIC_URL ?? "").replace(/\/+$/, "")}${callbackPath}`
    const apps: Readonly<Record<OAuthProvider, App>> = {
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
      /** The settings without which there is no reaching a provider. */
      missing,
      of: (provider: OAuthProvider) => apps[provider]
    }
  })
}) {}

/** Where to send somebody who is to authorize us. */
export const authorizationUrl = (app: App, state: string, challenge: string) => {
  const url = new URL(app.authorizeUrl)
  const parameters = {
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: [...app.scopes, ...app.silentScopes].join(" "),
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...app.parameters
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
