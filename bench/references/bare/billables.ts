import type { NewLine, NewLines } from "../billable.ts"
import { addLines } from "../lineAdding.ts"
import { inTenant } from "./access.ts"
import { invalid } from "./answer.ts"
import { bodyOf, isObjectOf, isOrder, isText } from "./body.ts"

export const billablesPath = "/api/v1/billables"

const most = { lines: 1000, keys: 50, key: 40, value: 500 }

const isQuantity = (value: unknown) =>
  typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Number.isNaN(value)

const isMetadata = (value: unknown) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  return (
    entries.length <= most.keys &&
    entries.every(([key, value]) => isText(key, 1, most.key) && isText(value, 0, most.value))
  )
}

const lineFields = new Set([
  ...["name", "quantity", "amountMinor", "currencyCode", "referenceType", "referenceId"],
  ...["description", "metadata", "order"]
])

const isLine = (body: unknown): body is NewLine => {
  if (!isObjectOf(lineFields, body)) return false
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
  if (!isObjectOf(fields, body)) return false
  const { billables, invoiceId } = body
  return (
    typeof invoiceId === "string" &&
    /^inv_[a-z0-9]{1,64}$/.test(invoiceId) &&
    Array.isArray(billables) &&
    billables.length >= 1 &&
    billables.length <= most.lines &&
    billables.every(isLine)
  )
}

export const createMany = inTenant("MEMBER", async (request, tenant) => {
  const body = await bodyOf(request)
  if (!isNewLines(body)) return invalid
  return {
    status: 201,
    body: `{"data":${JSON.stringify(await addLines(tenant, body))}}`,
    headers: { location: `${billablesPath}?invoiceId=${body.invoiceId}` }
  }
})
