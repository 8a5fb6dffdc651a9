import { Schema } from "effect"
import { EmailAddress } from "../contracting/EmailAddress.ts"

/** Maximum length of a tenant's name in a sender, so that what follows it is not cut off. */
const maxTenantName = 60

/** Text without control characters, and without those that end the name of an address. */
const toDisplayName = (text: string) =>
  text
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Z}]+/gu, " ")
    .replace(/[\p{C}"<>\\]/gu, "")
    .trim()

const parseSender = (text: string) => {
  const [, given = "", address = text] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const name = toDisplayName(given)
  return { name: name === "" ? address.slice(address.lastIndexOf("@") + 1) : name, address }
}

/** `Harbour Works <books@example.com>`, or an address alone, whose domain then is the name. */
export const Sender = Schema.transform(Schema.String, Schema.Struct({ name: Schema.String, address: EmailAddress }), {
  strict: true,
  decode: parseSender,
  encode: ({ address, name }) => `${name} <${address}>`
})
export type Sender = typeof Sender.Type

const isVia = (word: string) => word.replace(/\P{L}/gu, "").toLowerCase() === "via"

/**
 * The name of a sender whose mail another one sends. The word "via" is left out of the tenant's name: whatever follows
 * the word is the operator.
 */
export const senderNameVia = (tenant: string, operator: string) => {
  const shown = Array.from(toDisplayName(tenant)).slice(0, maxTenantName).join("")
  const words = shown.split(" ").filter((word) => word !== "" && !isVia(word))
  return [...words, "via", operator].join(" ")
}
