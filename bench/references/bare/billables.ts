import type { NewLine, NewLines } from "../billable.ts"
import { addLines } from "../lineCreation.ts"
import { withTenant } from "./access.ts"
import { isObjectWith, isOrder, isText, readBody } from "./body.ts"
import { validationError } from "./response.ts"

export const billablesPath = "/api/v1/billables"

const limits = { maxLines: 1000, maxKeys: 50, maxKeyLength: 40, maxValueLength: 500 }

const isQuantity = (value: unknown) =>
  typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Number.isNaN(value)

const isMetadata = (value: unknown) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  return (
    entries.length <= limits.maxKeys &&
    entries.every(([key, value]) => isText(key, 1, limits.maxKeyLength) && isText(value, 0, limits.maxValueLength))
  )
}

const lineFields = new Set([
  ...["name", "quantity", "amountMinor", "currencyCode", "referenceType", "referenceId"],
  ...["description", "metadata", "order"]
])

const isLine = (body: unknown): body is NewLine => {
  if (!isObjectWith(lineFields, body)) return false
  const { amountMinor, currencyCode, description, metadata, name, order, quantity, referenceId, referenceType } = body
  return (
    isText(name, 1, 255) &&
    (quantity === undefined || isQuantity(quantity)) &&
    Number.isSafeInteger(amountMinor) &&
    (currencyCode === undefined || (typeof currencyCode === "string" && /^[A-Z]{3}$/.test(currencyCode))) &&
    (referenceType === undefined || isText(referenceType, 1, 100)) &&
    (referenceId === undefined || isText(referenceId, 1, 100)) &&
    (description === undefined || isText(description, 0, 1024)) &&
    (metadata === undefined || isMetadata(metadata)) &&
    (order === undefined || isOrder(order))
  )
}

const fields = new Set(["invoiceId", "billables"])

const isNewLines = (body: unknown): body is NewLines => {
  if (!isObjectWith(fields, body)) return false
  const { billables, invoiceId } = body
  return (
    typeof invoiceId === "string" &&
    /^inv_[a-z0-9]{1,64}$/.test(invoiceId) &&
    Array.isArray(billables) &&
    billables.length >= 1 &&
    billables.length <= limits.maxLines &&
    billables.every(isLine)
  )
}

export const createBillables = withTenant("MEMBER", async (request, caller) => {
  const body = await readBody(request)
  if (!isNewLines(body)) return validationError
  return {
    status: 201,
    body: `{"data":${JSON.stringify(await addLines(caller, body))}}`,
    headers: { location: `${billablesPath}?invoiceId=${body.invoiceId}` }
  }
})
