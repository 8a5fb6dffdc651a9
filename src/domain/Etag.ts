import { hash } from "node:crypto"

/** The entity tag of bytes by their digest, which is SHA-256 in base64url. */
export const etagOfDigest = (digest: string) => `"${digest.slice(0, 27)}"`

/** The strong entity tag of a representation: the same only for the same text or bytes. */
export const etagOfText = (json: string | Uint8Array) => etagOfDigest(hash("sha256", json, "base64url"))

export const etagOf = (resource: unknown) => etagOfText(JSON.stringify(resource))
