import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { defaultSyntax, EInvoiceSyntax } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { optionalWithDefault } from "../../domain/Schemas.ts"

export const xmlType = "application/xml"

export const EInvoiceQuery = Schema.Struct({ syntax: optionalWithDefault(EInvoiceSyntax, defaultSyntax) })

export const xmlFile = HttpApiSchema.Uint8Array({ contentType: xmlType })
