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

/** Rejects when the token is invalid. */
export const verifyToken = async (token: string): Promise<Principal> => {
  const { exp = 0, iss = "", sub = "" } = (await jwtVerify(token, keys, options)).payload
  return { issuer: iss, subject: sub, expiresAt: exp * 1000 }
}
