import { Effect } from "effect"
import { Deliveries } from "../../../layers/delivery/Deliveries.ts"
import { DeliveriesApi } from "../../api/groups/integrations/Deliveries.ts"
import { handleGroup } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const deliveries = handleGroup(DeliveriesApi, Effect.provide(Deliveries, Deliveries.Default), (ledger) => ({
  list: ({ path, query }) => listPage(query, (window) => ledger.page(path.integrationId, window, query)),
  get: ({ path }) => ledger.get(path.integrationId, path.deliveryId),
  redeliver: ({ path }) => ledger.redeliver(path.integrationId, path.deliveryId),
  redeliverAll: ({ path, payload }) => ledger.redeliverAll(path.integrationId, payload)
}))
