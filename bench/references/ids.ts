import { randomBytes } from "node:crypto"

/** As long as the service's identifiers and, like them, in the order of time, which is kind to the indexes. */
export const newId = (prefix: string) =>
  `${prefix}_${Date.now().toString(36).padStart(10, "0")}${randomBytes(8).toString("hex")}`
