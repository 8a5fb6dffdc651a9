import { Effect } from "effect"
import type { EncodedJson } from "../../domain/EncodedJson.ts"
import type { Billable } from "../../domain/invoicing/Billable.ts"
import { Billables } from "../../layers/invoicing/Billables.ts"
import { IssueBilling } from "../../layers/trackers/IssueBilling.ts"
import { handleGroup } from "../server/Handlers.ts"
import { HandlerResult } from "../server/response/HandlerResult.ts"
import { listPage } from "../server/response/Paging.ts"
import { BillablesApi } from "./BillablesApi.ts"

const dependencies = Effect.all({ billables: Billables, issueBilling: IssueBilling })

const withLocation = (invoiceId: string) => (created: EncodedJson<ReadonlyArray<Billable>>) =>
  new HandlerResult(created, { headers: { location: `/api/v1/billables?invoiceId=${invoiceId}` } })

export const billables = handleGroup(BillablesApi, dependencies, ({ billables, issueBilling }) => ({
  list: ({ query }) => listPage(query, (window) => billables.list(window, query)),
  create: ({ payload }) => Effect.map(billables.create(payload), withLocation(payload.invoiceId)),
  createFromIssues: ({ path, payload }) =>
    Effect.map(issueBilling.createBillables(path.invoiceId, payload), withLocation(path.invoiceId)),
  get: ({ path }) => billables.get(path.billableId),
  patch: ({ path, payload }) => billables.patch(path.billableId, payload),
  remove: ({ path }) => billables.remove(path.billableId)
}))
