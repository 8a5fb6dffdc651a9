import { storableText } from "../../domain/StorableText.ts"

/** What a provider's JSON says, in texts that can be stored; undefined when it is no JSON. */
export const readProviderJson = (text: string): unknown => {
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? storableText(value) : value))
  } catch {
    return undefined
  }
}
