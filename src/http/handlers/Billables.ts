import { Effect } from "effect"
import { Billables } from "../../layers/sql/invoicing/Billables.ts"
import { BillablesApi } from "../api/groups/Billables.ts"
import { handle } from "../edge/Handlers.ts"
import { paged } from "../edge/response/Paging.ts"
import { Reply } from "../edge/response/Reply.ts"

export const billables = handle(BillablesApi, Effect.provide(Billables, Billables.Default), (billables) => ({
  list: ({ query }) => paged(query, (window) => billables.page(window, { invoice: query.invoiceId })),
  create: ({ payload }) =>
    Effect.map(
      billables.create(payload),
      (made) => new Reply(made, { headers: { location: `/api/v1/billables?invoiceId=${payload.invoiceId}` } })
    ),
  get: ({ path }) => billables.get(path.billableId),
  patch: ({ path, payload }) => billables.patch(path.billableId, payload),
  remove: ({ path }) => billables.remove(path.billableId)
}))
