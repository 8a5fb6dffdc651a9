import { hash, randomBytes } from "node:crypto"

/** 256 random bits, safe in a URL. */
export const makeOneTimeToken = () => randomBytes(32).toString("base64url")

/** The hash is stored instead of the token, which only its bearer knows. */
export const hashOf = (token: string) => hash("sha256", token, "buffer")
