import { join } from "node:path"
import { Effect, Schema } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { loadOrCreateKeyFile } from "../config/KeyFile.ts"
import { Settings, type SettingsShape } from "../config/Settings.ts"

/** Issuer and audience of development tokens. No real issuer can have this name. */
export const developmentIssuer = {
  issuer: "urn:contracting:development",
  audience: "urn:contracting:development"
} as const

/** Whether this process accepts development tokens: it has no other issuer. Production needs one. */
export const acceptsDevelopmentTokens = ({ AUTH_ISSUER, AUTH_JWKS_URL, NODE_ENV }: SettingsShape) =>
  AUTH_ISSUER === undefined && AUTH_JWKS_URL === undefined && NODE_ENV !== "production"

const algorithm = "ES256"

const makeKey = async () => {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = await exportJWK(privateKey)
  return JSON.stringify({ ...jwk, alg: algorithm, kid: await calculateJwkThumbprint(jwk) })
}

const parseJwk = Schema.decodeUnknown(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String })))

/** The private key in the data directory. Read access to the directory is enough to sign development tokens. */
export const developmentKey = Effect.gen(function* () {
  const { DATA_DIR } = yield* Settings
  const text = yield* loadOrCreateKeyFile(join(DATA_DIR, "development-key.json"), makeKey)
  const jwk: JWK = yield* Effect.orDie(parseJwk(text))
  return jwk
})

export const toPublicJwk = ({ alg, crv, kid, kty, x, y }: JWK) => ({ alg, crv, kid, kty, x, y }) as JWK

/** A bearer token for local development. */
export const signDevelopmentToken = (subject: string, ttlSeconds: number) =>
  Effect.flatMap(developmentKey, (jwk) =>
    Effect.promise(async () =>
      new SignJWT({})
        .setProtectedHeader({ alg: algorithm, kid: jwk.kid ?? "", typ: "at+jwt" })
        .setIssuer(developmentIssuer.issuer)
        .setAudience(developmentIssuer.audience)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime(`${ttlSeconds}s`)
        .sign(await importJWK(jwk, algorithm))
    )
  )
