import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"

/** A key pair of an issuer, under the name its tokens call it by. */
export const makeSigningKey = async (alg: string, kid = alg) => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), alg, kid, use: "sig" } }
}

export type SigningKey = Awaited<ReturnType<typeof makeSigningKey>>

export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A token that says just this. What is undefined is left out; `header` adds to the usual one. */
export const signToken = (key: SigningKey, claims: JWTPayload, header: Readonly<Record<string, unknown>> = {}) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
    .sign(key.privateKey, { crit: { b64: true } })
