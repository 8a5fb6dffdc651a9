import { toStorableText } from "../../domain/StorableText.ts"

/** Parses JSON and makes its strings storable in PostgreSQL. Returns undefined for anything but JSON. */
export const parseProviderJson = (text: string): unknown => {
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? toStorableText(value) : value))
  } catch {
    return undefined
  }
}
