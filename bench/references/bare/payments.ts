import type { NewPayment } from "../payment.ts"
import { createPayment } from "../paymentCreation.ts"
import { withTenant } from "./access.ts"
import { isObjectWith, isText, readBody } from "./body.ts"
import { validationError } from "./response.ts"

export const paymentsPath = "/api/v1/payments"

const maxAllocations = 100

const isPositive = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1

const isMatching = (pattern: RegExp, value: unknown) => typeof value === "string" && pattern.test(value)

const isDateTime = (value: unknown) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT.*Z$/.test(value) && !Number.isNaN(Date.parse(value))

const allocationFields = new Set(["invoiceId", "amountMinor"])

const isAllocation = (value: unknown) =>
  isObjectWith(allocationFields, value) &&
  isMatching(/^inv_[a-z0-9]{1,64}$/, value["invoiceId"]) &&
  isPositive(value["amountMinor"])

const areAllocations = (value: unknown) =>
  Array.isArray(value) && value.length <= maxAllocations && value.every(isAllocation)

const paymentFields = new Set([
  ...["clientId", "currencyCode", "amountMinor", "receivedAt"],
  ...["method", "reference", "externalId", "allocations"]
])

const isNewPayment = (body: unknown): body is NewPayment => {
  if (!isObjectWith(paymentFields, body)) return false
  const { allocations, amountMinor, clientId, currencyCode, externalId, method, receivedAt, reference } = body
  return (
    isMatching(/^clnt_[a-z0-9]{1,64}$/, clientId) &&
    isMatching(/^[A-Z]{3}$/, currencyCode) &&
    isPositive(amountMinor) &&
    (receivedAt === undefined || isDateTime(receivedAt)) &&
    (method === undefined || isText(method, 1, 50)) &&
    (reference === undefined || isText(reference, 1, 200)) &&
    (externalId === undefined || isText(externalId, 1, 200)) &&
    (allocations === undefined || areAllocations(allocations))
  )
}

export const handleCreatePayment = withTenant("ADMIN", async (request, caller) => {
  const body = await readBody(request)
  if (!isNewPayment(body)) return validationError
  const payment = await createPayment(caller, body)
  return {
    status: 201,
    body: `{"data":${JSON.stringify(payment)}}`,
    headers: { location: `${paymentsPath}/${payment.id}` }
  }
})
