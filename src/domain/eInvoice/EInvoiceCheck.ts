import { Either, Schema } from "effect"
import { fieldError, validationError } from "../Errors.ts"
import { field, oneOf } from "../Schemas.ts"
import type { ReadinessError } from "./readiness/ReadinessError.ts"

/** The XML syntaxes of the standard. */
export const EInvoiceSyntax = field(
  oneOf("cii", "ubl"),
  "Syntax of the XML. cii: Cross Industry Invoice of UN/CEFACT. ubl: Universal Business Language of OASIS.",
  "cii"
)
export type EInvoiceSyntax = typeof EInvoiceSyntax.Type

export const defaultSyntax = "cii" satisfies EInvoiceSyntax

const UnmetRule = Schema.Struct({
  rule: field(Schema.String, "Name of the rule in EN 16931.", "BR-11"),
  field: field(Schema.String, "The field that has to change.", "client.address.countryCode"),
  message: field(Schema.String, "What to do.", "Fill in the country code of the address of the client.")
}).annotations({ description: "A rule of the standard that the document does not meet." })

export const EInvoiceCheck = Schema.Struct({
  isReady: field(Schema.Boolean, "Whether the document meets all rules, so that it can be an e-invoice.", false),
  errors: field(Schema.Array(UnmetRule), "The rules that it does not meet. Empty if it is ready.")
}).annotations({
  identifier: "EInvoiceCheck",
  description: "Whether an invoice or a credit note can be an e-invoice, and what is missing."
})
export type EInvoiceCheck = typeof EInvoiceCheck.Type

export const toEInvoiceCheck = (errors: ReadonlyArray<ReadinessError>): EInvoiceCheck => ({
  isReady: errors.length === 0,
  errors
})

/** Fails for a document without a number, which the XML would be without too. */
export const requireIssued = ({ status }: { readonly status: string }) =>
  status === "DRAFT"
    ? Either.left(fieldError("status", "state", "is DRAFT; finalize it first. The e-invoice check works on drafts too"))
    : Either.void

/** Fails with every rule that the document does not meet. */
export const requireReady = ({ errors, isReady }: EInvoiceCheck) =>
  isReady
    ? Either.void
    : Either.left(
        validationError(
          ...errors.map(
            ({ field, message, rule }) => ({ field, constraint: "state", message: `${rule}: ${message}` }) as const
          )
        )
      )
