import { Effect } from "effect"
import { Addresses } from "../../../layers/sql/contracting/Addresses.ts"
import { AddressesApi } from "../../api/groups/contracting/Addresses.ts"
import { handle } from "../../edge/Handlers.ts"
import { paged } from "../../edge/response/Paging.ts"

export const addresses = handle(AddressesApi, Effect.provide(Addresses, Addresses.Default), (addresses) => ({
  list: ({ query }) => paged(query, (window) => addresses.page(window, { client: query.clientId })),
  create: ({ payload: { clientId, ...fields } }) =>
    addresses.create(clientId === undefined ? fields : { ...fields, client: clientId }),
  get: ({ path }) => addresses.get(path.addressId),
  patch: ({ path, payload }) => addresses.patch(path.addressId, payload),
  remove: ({ path }) => addresses.remove(path.addressId)
}))
