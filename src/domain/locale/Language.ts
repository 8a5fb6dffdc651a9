import { oneOf } from "../Schemas.ts"

/** ISO 639-1 codes of the languages that documents for clients can have. */
export const languages = ["en", "de", "fr"] as const

export const Language = oneOf(...languages)
export type Language = typeof Language.Type

/** The language of a client that names none. */
export const defaultLanguage: Language = "en"
