import { Deliveries } from "../../layers/delivery/Deliveries.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { DeliveriesApi } from "./DeliveriesApi.ts"

export const deliveries = handleGroup(DeliveriesApi, Deliveries, (service) => ({
  list: ({ path, query }) => listPage(query, (window) => service.page(path.integrationId, window, query)),
  get: ({ path }) => service.get(path.integrationId, path.deliveryId),
  redeliver: ({ path }) => service.redeliver(path.integrationId, path.deliveryId),
  redeliverAll: ({ path, payload }) => service.redeliverAll(path.integrationId, payload)
}))
