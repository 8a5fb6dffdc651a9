import { Schema } from "effect"
import { rule, text } from "../Schemas.ts"

// address = local "@" domain
// local   = atom *("." atom)
// domain  = 1*(label ".") topLevelDomain
const atom = /^[\w!#$%&'*+/=?^`{|}~-]+$/
const label = /^[a-z0-9]+(-+[a-z0-9]+)*$/i
const endsInTopLevelDomain = /\.[a-z]{2,}$/i

const localPartError = (local: string) => {
  if (local === "") return "must have a name before the @"
  if (local.startsWith(".") || local.endsWith("."))
    return "must not have a dot at the start or end of the part before the @"
  if (local.includes("..")) return "must not have two dots in a row before the @"
  return local.split(".").every((part) => atom.test(part))
    ? undefined
    : "has a character before the @ that is not allowed in an email address"
}

const domainError = (domain: string) => {
  const labels = domain.split(".")
  if (labels.length < 2) return "must have a domain with a dot after the @"
  if (!labels.every((part) => label.test(part)))
    return "must have a domain of letters, digits and inner hyphens after the @"
  return endsInTopLevelDomain.test(domain) ? undefined : "must end in a top-level domain of at least two letters"
}

/** The validation message of an invalid address. The last @ is the separator; the local part cannot contain another. */
const addressError = (address: string) => {
  const at = address.lastIndexOf("@")
  if (at === -1) return "must be an email address with an @"
  return localPartError(address.slice(0, at)) ?? domainError(address.slice(at + 1))
}

export const EmailAddress = text(1, 200).pipe(
  Schema.filter((address) => addressError(address) === undefined, {
    ...rule("format", "must be an email address", { format: "email" }),
    message: ({ actual }) => addressError(String(actual)) ?? "must be an email address"
  })
)
