import { Deliveries } from "../../../layers/delivery/Deliveries.ts"
import { DeliveriesApi } from "../../api/groups/integrations/Deliveries.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const deliveries = handleGroup(DeliveriesApi, Deliveries.pipe(provideShared(Deliveries.Default)), (service) => ({
  list: ({ path, query }) => listPage(query, (window) => service.page(path.integrationId, window, query)),
  get: ({ path }) => service.get(path.integrationId, path.deliveryId),
  redeliver: ({ path }) => service.redeliver(path.integrationId, path.deliveryId),
  redeliverAll: ({ path, payload }) => service.redeliverAll(path.integrationId, payload)
}))
