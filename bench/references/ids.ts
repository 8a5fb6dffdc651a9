import { randomBytes } from "node:crypto"

/** As long as the ids of the service and, like them, sorted by time, which suits the indexes. */
export const newId = (prefix: string) =>
  `${prefix}_${Date.now().toString(36).padStart(10, "0")}${randomBytes(8).toString("hex")}`
