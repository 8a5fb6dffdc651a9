import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { localhost } from "../tools/local/Ports.ts"

const algorithm = "ES256"
const kid = "bench"

export const benchCaller = {
  issuer: "urn:contracting:bench",
  audience: "urn:contracting:bench",
  subject: "bench"
} as const

/** The subjects of the callers that share the load of some rows, each with a tenant of its own. */
export const callers = Array.from({ length: 64 }, (_, n) => `caller-${n}`)

/** The token of who sends a request: the bench's caller unless the request names another. */
export type TokenOf = (request: { readonly caller?: string }) => string

const makeSigningKeys = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair(algorithm)
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: algorithm, kid, use: "sig" }] })
  const signTokenFor = (subject: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: algorithm, kid, typ: "at+jwt" })
      .setIssuer(benchCaller.issuer)
      .setAudience(benchCaller.audience)
      .setSubject(subject)
      .setIssuedAt()
      .setExpirationTime("6h")
      .sign(privateKey)
  const token = await signTokenFor(benchCaller.subject)
  const tokens = new Map(
    await Promise.all(callers.map(async (caller) => [caller, await signTokenFor(caller)] as const))
  )
  const tokenOf: TokenOf = ({ caller = "" }) => tokens.get(caller) ?? token
  return { jwks, signTokenFor, token, tokenOf }
})

const listen = (jwks: string) =>
  Effect.async<ReturnType<typeof createServer>>((resume) => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(jwks)
    })
    server.listen(0, localhost, () => resume(Effect.succeed(server)))
  })

/** Starts a token issuer with a JWKS endpoint. Returns tokens of the bench's callers. */
export const startTokenIssuer = Effect.gen(function* () {
  const { jwks, ...tokens } = yield* makeSigningKeys
  const server = yield* Effect.acquireRelease(listen(jwks), (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  // A server on a TCP port has an AddressInfo.
  const { port } = server.address() as AddressInfo
  return { ...tokens, jwksUrl: `http://${localhost}:${port}/jwks.json` }
})
