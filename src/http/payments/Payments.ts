import { Payments } from "../../layers/payments/Payments.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { PaymentsApi } from "./PaymentsApi.ts"

export const payments = handleGroup(PaymentsApi, Payments, (payments) => ({
  list: ({ query }) => listPage(query, (window) => payments.list(window, query)),
  create: ({ payload }) => payments.create(payload),
  get: ({ path }) => payments.get(path.paymentId),
  allocate: ({ path, payload }) => payments.allocate(path.paymentId, payload),
  reverse: ({ path, payload }) => payments.reverse(path.paymentId, payload),
  refund: ({ path, payload }) => payments.refund(path.paymentId, payload)
}))
