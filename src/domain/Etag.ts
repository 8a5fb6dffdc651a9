import { hash } from "node:crypto"

/** The strong entity tag of a representation: the same only for the same text or bytes. */
export const etagOfText = (json: string | Uint8Array) => `"${hash("sha256", json, "base64url").slice(0, 27)}"`

export const etagOf = (resource: unknown) => etagOfText(JSON.stringify(resource))
