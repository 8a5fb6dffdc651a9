import { Effect } from "effect"
import { Ledger } from "../../../layers/delivery/Ledger.ts"
import { DeliveriesApi } from "../../api/groups/integrations/Deliveries.ts"
import { handle } from "../../server/Handlers.ts"
import { paged } from "../../server/response/Paging.ts"

export const deliveries = handle(DeliveriesApi, Effect.provide(Ledger, Ledger.Default), (ledger) => ({
  list: ({ path, query }) => paged(query, (window) => ledger.page(path.integrationId, window, query)),
  get: ({ path }) => ledger.get(path.integrationId, path.deliveryId),
  redeliver: ({ path }) => ledger.redeliver(path.integrationId, path.deliveryId),
  redeliverAll: ({ path, payload }) => ledger.redeliverAll(path.integrationId, payload)
}))
