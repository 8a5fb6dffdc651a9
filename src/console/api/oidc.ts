import * as oauth from "oauth4webapi"
import { type PageSettings, refreshToken, token } from "./session.ts"

type Provider = NonNullable<PageSettings["oidc"]>

/** What the redirect back needs. It holds no token, and is removed when it is read. */
interface PendingSignIn {
  readonly state: string
  readonly verifier: string
  readonly returnTo: string
}

const storageName = "sign-in"

const redirectUri = () => `${location.origin}/console/callback`

/** Plain http is for a provider on this machine. */
const optionsFor = ({ issuer }: Provider) =>
  new URL(issuer).protocol === "http:" ? { [oauth.allowInsecureRequests]: true } : {}

const discover = async (provider: Provider) => {
  const issuer = new URL(provider.issuer)
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, optionsFor(provider)))
}

/** Leaves for the identity provider. `silent` returns at once if nobody is signed in there. */
export const beginSignIn = async (provider: Provider, returnTo: string, { silent = false } = {}) => {
  const { authorization_endpoint } = await discover(provider)
  if (authorization_endpoint === undefined) throw new Error("The identity provider has no authorization endpoint")
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const pending: PendingSignIn = { state, verifier, returnTo }
  sessionStorage.setItem(storageName, JSON.stringify(pending))
  const url = new URL(authorization_endpoint)
  const parameters = {
    client_id: provider.clientId,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: "openid",
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    // Some providers call the audience of an access token resource, as RFC 8707 does, and others audience.
    ...(provider.audience === undefined ? {} : { resource: provider.audience, audience: provider.audience }),
    ...(silent ? { prompt: "none" } : {})
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  location.assign(url)
}

const renewWith = async (provider: Provider, server: oauth.AuthorizationServer, refresh: string) => {
  const client = { client_id: provider.clientId }
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, optionsFor(provider))
  const result = await oauth.processRefreshTokenResponse(server, client, response)
  keepTokens(provider, server, result)
  return result.access_token
}

const keepTokens = (provider: Provider, server: oauth.AuthorizationServer, result: oauth.TokenEndpointResponse) => {
  token.value = result.access_token
  const { refresh_token } = result
  if (refresh_token !== undefined) refreshToken.value = () => renewWith(provider, server, refresh_token)
}

/** Finishes the sign-in with the address that the provider has sent the browser to. Returns where the person wanted to go. */
export const completeSignIn = async (provider: Provider, address: URL) => {
  const stored = sessionStorage.getItem(storageName)
  sessionStorage.removeItem(storageName)
  if (stored === null) throw new Error("This sign-in was not begun here. Please sign in again.")
  const { returnTo, state, verifier }: PendingSignIn = JSON.parse(stored)
  const server = await discover(provider)
  const client = { client_id: provider.clientId }
  const parameters = oauth.validateAuthResponse(server, client, address, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    {
      ...optionsFor(provider),
      ...(provider.audience === undefined ? {} : { additionalParameters: { resource: provider.audience } })
    }
  )
  keepTokens(provider, server, await oauth.processAuthorizationCodeResponse(server, client, response))
  return returnTo
}
