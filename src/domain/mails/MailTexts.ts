import type { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { escapeHtml } from "../Html.ts"
import { type Language, languages } from "../locale/Language.ts"
import { body, field, optional, text } from "../Schemas.ts"

/** What a subject and a message can contain, in braces. */
export const placeholders = ["invoiceNumber", "total", "dueDate", "client", "link"] as const
export type MailValues = Readonly<Record<(typeof placeholders)[number], string>>

const names = placeholders.map((name) => `{${name}}`).join(", ")

export const mailTextFields = {
  subject: optional(field(text(1, 200), `Subject of the mail. Can contain ${names}.`, "Invoice {invoiceNumber}")),
  message: optional(
    field(text(1, 10_000), `Text of the mail. Can contain ${names}.`, "Please find attached invoice {invoiceNumber}.")
  )
}

const MailText = body(mailTextFields).annotations({ description: "Subject and message in one language." })
export type MailText = typeof MailText.Type

export const MailTexts = body({
  en: optional(field(MailText, "For clients whose language is English.")),
  de: optional(field(MailText, "For clients whose language is German.")),
  fr: optional(field(MailText, "For clients whose language is French."))
} satisfies Record<Language, Schema.Struct.Field>).annotations({
  description: "Subjects and messages of mails, by the language of the client. What is left out has a default."
})
export type MailTexts = typeof MailTexts.Type

const inBraces = /\{(\w+)\}/g

const findPlaceholder = (name: string) => placeholders.find((known) => known === name)

const unknownPlaceholders = (template: string) =>
  Array.from(template.matchAll(inBraces), ([, name = ""]) => name).filter((name) => findPlaceholder(name) === undefined)

/** The errors of placeholders that do not exist. `path` is the field that contains the text. */
export const mailTextErrors = (given: MailText, path = ""): ReadonlyArray<ErrorDetail> =>
  (["subject", "message"] as const).flatMap((key) =>
    unknownPlaceholders(given[key] ?? "").map((name) => ({
      field: `${path}${key}`,
      constraint: "format" as const,
      message: `must only contain the placeholders ${names}, but contains {${name}}`
    }))
  )

export const allMailTextErrors = (texts: MailTexts, path: string) =>
  languages.flatMap((language) => mailTextErrors(texts[language] ?? {}, `${path}${language}.`))

/** The documents that are mailed. */
export type MailedKind = "invoice" | "credit_note"

const defaults: Readonly<Record<MailedKind, Readonly<Record<Language, Required<MailText>>>>> = {
  invoice: {
    en: {
      subject: "Invoice {invoiceNumber}",
      message:
        "Dear {client},\n\nplease find attached invoice {invoiceNumber} of {total}, due on {dueDate}.\n\n{link}\n\nKind regards"
    },
    de: {
      subject: "Rechnung {invoiceNumber}",
      message:
        "Guten Tag {client},\n\nanbei erhalten Sie die Rechnung {invoiceNumber} über {total}, zahlbar bis {dueDate}.\n\n{link}\n\nFreundliche Grüße"
    },
    fr: {
      subject: "Facture {invoiceNumber}",
      message:
        "Bonjour {client},\n\nveuillez trouver ci-joint la facture {invoiceNumber} de {total}, à régler au plus tard le {dueDate}.\n\n{link}\n\nCordialement"
    }
  },
  credit_note: {
    en: {
      subject: "Credit note {invoiceNumber}",
      message:
        "Dear {client},\n\nplease find attached credit note {invoiceNumber} of {total}.\n\n{link}\n\nKind regards"
    },
    de: {
      subject: "Rechnungskorrektur {invoiceNumber}",
      message:
        "Guten Tag {client},\n\nanbei erhalten Sie die Rechnungskorrektur {invoiceNumber} über {total}.\n\n{link}\n\nFreundliche Grüße"
    },
    fr: {
      subject: "Avoir {invoiceNumber}",
      message:
        "Bonjour {client},\n\nveuillez trouver ci-joint l'avoir {invoiceNumber} de {total}.\n\n{link}\n\nCordialement"
    }
  }
}

/** Fills all placeholders in one pass: those that a value contains stay text. A client could be named {link}. */
const fill = (template: string, values: MailValues) =>
  template.replace(inBraces, (text, name: string) => {
    const placeholder = findPlaceholder(name)
    return placeholder === undefined ? text : values[placeholder]
  })

/** Fills a message. A line that has nothing but an empty link is dropped, with one of the empty lines around it. */
const fillMessage = (template: string, values: MailValues) => {
  const lines = template.split(/\r?\n/)
  const isDropped = (line: string | undefined) => line?.includes("{link}") === true && fill(line, values).trim() === ""
  return lines
    .filter((line, n) => !isDropped(line) && !(line.trim() === "" && isDropped(lines[n - 1])))
    .map((line) => fill(line, values))
    .join("\n")
}

const toHtml = (plain: string, language: Language) => {
  const paragraphs = plain.split(/\n{2,}/).map((part) => `<p>${escapeHtml(part).replaceAll("\n", "<br>\n")}</p>`)
  return `<!doctype html>\n<html lang="${language}"><meta charset="utf-8"><body>\n${paragraphs.join("\n")}\n</body></html>\n`
}

interface MailContext {
  readonly kind: MailedKind
  readonly language: Language
  /** Of the request to send, which come before those of the integration. */
  readonly requested: MailText
  readonly texts: MailTexts
  readonly values: MailValues
}

/** Subject, text and HTML of a mail. Values cannot add placeholders, lines to the subject, or markup. */
export const composeMail = ({ kind, language, requested, texts, values }: MailContext) => {
  const { message, subject } = { ...defaults[kind][language], ...texts[language], ...requested }
  const plain = fillMessage(message, values)
  return {
    subject: fill(subject, values).replace(/\s+/g, " ").trim(),
    text: `${plain}\n`,
    html: toHtml(plain, language)
  }
}
