import type { RequestListener } from "node:http"
import type { JWK } from "jose"
import { serveOnLoopback } from "./loopback.ts"

const json = (response: Parameters<RequestListener>[1], body: object) => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(body))
}

/** An issuer of tokens. A test can publish and withdraw its keys, and make it unavailable. */
export const startIssuer = async (...published: ReadonlyArray<JWK>) => {
  /** Its responses. `override` responds to every request while it is set. */
  const state: { keys: ReadonlyArray<JWK>; discovery: object; override: RequestListener | undefined } = {
    keys: published,
    discovery: {},
    override: undefined
  }
  const handlers: Readonly<Record<string, RequestListener>> = {
    "/.well-known/openid-configuration": (_, response) => json(response, state.discovery),
    "/jwks": (_, response) => json(response, { keys: state.keys })
  }
  const { stop, url } = await serveOnLoopback((request, response) => {
    const handler = state.override ?? handlers[request.url ?? ""]
    if (handler === undefined) response.writeHead(404).end()
    else handler(request, response)
  })
  state.discovery = { issuer: url, jwks_uri: `${url}/jwks` }
  return { url, jwksUrl: `${url}/jwks`, state, stop }
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>
