import { createRemoteJWKSet, jwtVerify } from "jose"
import { environment } from "./environment.ts"

export interface Principal {
  readonly issuer: string
  readonly subject: string
  readonly expiresAt: number
}

const keys = createRemoteJWKSet(new URL(environment.jwksUrl))
const options = {
  issuer: environment.issuer,
  audience: environment.audience,
  algorithms: ["RS256", "PS256", "ES256", "EdDSA"],
  requiredClaims: ["exp", "sub", "iss"]
}

const verify = async (token: string): Promise<Principal> => {
  const { exp = 0, iss = "", sub = "" } = (await jwtVerify(token, keys, options)).payload
  return { issuer: iss, subject: sub, expiresAt: exp * 1000 }
}

const verified = new Map<string, Principal>()

/**
 * Rejects when the token is invalid. Remembers verified tokens like the service, but evicts none: a reference server runs
 * for minutes and sees as many tokens as the bench has callers.
 */
export const verifyToken = async (token: string): Promise<Principal> => {
  const known = verified.get(token)
  if (known !== undefined && known.expiresAt > Date.now()) return known
  const principal = await verify(token)
  verified.set(token, principal)
  return principal
}
