import { hash, randomBytes } from "node:crypto"

/** What cannot be guessed: 256 bits of chance, fit for an address. */
export const newOneTime = () => randomBytes(32).toString("base64url")

/** What is kept in the place of something that is known to its bearer alone. */
export const hashOf = (word: string) => hash("sha256", word, "buffer")
