import { hash } from "node:crypto"

/** The entity tag of content, from its SHA-256 digest in base64url. */
export const etagOfDigest = (digest: string) => `"${digest.slice(0, 27)}"`

/** The strong entity tag of a representation: it differs as soon as one byte differs. */
export const etagOfContent = (content: string | Uint8Array) => etagOfDigest(hash("sha256", content, "base64url"))

export const etagOf = (resource: unknown) => etagOfContent(JSON.stringify(resource))
