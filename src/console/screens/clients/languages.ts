import type { Schemas } from "../../api/client.ts"

type Language = NonNullable<Schemas["Client"]["language"]>

const names: Readonly<Record<Language, string>> = { en: "English", de: "German", fr: "French" }

/** The languages of invoices and mails. */
export const languages = Object.entries(names)

export const isLanguage = (text: string | undefined): text is Language => text !== undefined && text in names
