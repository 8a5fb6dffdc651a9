import { Schema } from "effect"
import { iso31661Alpha2ToAlpha3 } from "iso-3166"
import { butIs } from "../RejectedValue.ts"
import { rule } from "../Schemas.ts"

/** An officially assigned code of ISO 3166-1 alpha-2. */
export const CountryCode = Schema.String.pipe(
  Schema.filter(
    (code) => Object.hasOwn(iso31661Alpha2ToAlpha3, code),
    rule("format", butIs("must be an ISO 3166-1 alpha-2 country code such as DE"), { pattern: "^[A-Z]{2}$" })
  )
)
