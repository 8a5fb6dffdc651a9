import type { RequestListener } from "node:http"
import { exportJWK, generateKeyPair, type JWK } from "jose"
import { vi } from "vitest"
import { serveOnLoopback } from "./loopback.ts"

const client = { id: "billing-robot", secret: "only-a-test" }

const configurationWith = (jwk: JWK) => ({
  jwks: { keys: [jwk] },
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: "ES256"
    }
  ],
  ttl: { ClientCredentials: 3600 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_: unknown, resource: string) => ({
        scope: "api",
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 3600,
        jwt: { sign: { alg: "ES256" } }
      })
    }
  }
})

const makeKey = async (kid: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg: "ES256", use: "sig" }
}

/** oidc-provider warns that it is not configured for production. */
export const withoutConsoleOutput = async <A>(work: () => Promise<A>) => {
  const muted = [vi.spyOn(console, "info"), vi.spyOn(console, "warn")].map((spy) => spy.mockImplementation(() => {}))
  try {
    return await work()
  } finally {
    for (const spy of muted) spy.mockRestore()
  }
}

/** A certified OpenID provider that issues JWT access tokens to one client. */
export const startIdentityProvider = async () => {
  let handle: RequestListener = (_, response) => response.writeHead(503).end()
  const { stop, url: issuer } = await serveOnLoopback((request, response) => handle(request, response))
  let generation = 0

  /** Replaces the signing key, as after a compromise. */
  const rotate = () =>
    withoutConsoleOutput(async () => {
      const { Provider } = await import("oidc-provider")
      handle = new Provider(issuer, configurationWith(await makeKey(`key-${++generation}`))).callback()
    })

  /** An access token for this audience. */
  const tokenFor = async (audience: string) => {
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource: audience, scope: "api" })
    })
    const body: unknown = await response.json()
    if (typeof body === "object" && body !== null && "access_token" in body) return String(body.access_token)
    throw new Error(`The identity provider refused: ${JSON.stringify(body)}`)
  }

  await rotate()
  return { issuer, jwksUrl: `${issuer}/jwks`, subject: client.id, rotate, tokenFor, stop }
}
