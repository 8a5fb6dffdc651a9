import { parseAmount } from "../../../domain/money/AmountParser.ts"
import { ApiFailure } from "../../api/client.ts"
import { editableAmount } from "../format.ts"
import { Field, type FormValues } from "./Form.tsx"

/** An optional amount of a form. Text that is no amount is an error at its field. */
export const amountOf = (values: FormValues, field: string, currencyCode: string) => {
  const text = values[field]?.trim() ?? ""
  const amountMinor = text === "" ? undefined : parseAmount(text, currencyCode)
  if (text !== "" && amountMinor === undefined)
    throw new ApiFailure(400, "", [{ field, constraint: "format", message: "must be an amount such as 1250.00" }])
  return amountMinor
}

const name = "amountMinor"

/** What the amount field below has. The service rejects 0. */
export const requiredAmountOf = (values: FormValues, currencyCode: string) => amountOf(values, name, currencyCode) ?? 0

interface AmountFieldProps {
  readonly currencyCode: string
  /** The amount to begin with. */
  readonly amountMinor: number
  readonly hint?: string
}

/** The amount that a form is about. */
export const AmountField = ({ amountMinor, currencyCode, ...field }: AmountFieldProps) => (
  <Field
    name={name}
    label={`Amount in ${currencyCode}`}
    value={editableAmount(amountMinor, currencyCode)}
    isRequired
    {...field}
  />
)
