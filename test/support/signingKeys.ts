import { exportJWK, generateKeyPair, SignJWT } from "jose"

/** A key pair of an issuer, under the name its tokens call it by. */
export const makeSigningKey = async (alg: string, kid = alg) => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), alg, kid, use: "sig" } }
}

export type SigningKey = Awaited<ReturnType<typeof makeSigningKey>>

export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A header that only its issuer understands, which can be marked as critical. */
export const extension = "urn:test:extension"

/** What a token claims, be it sensible or not; what is undefined is left out. */
export type Claims = Readonly<Record<string, unknown>>

/** A token that says just this; `header` adds to the usual one. */
export const signToken = (key: SigningKey, claims: Claims, header: object = {}) =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
    .sign(key.privateKey, { crit: { [extension]: true } })
