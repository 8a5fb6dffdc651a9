import { Effect } from "effect"
import { Tenants } from "../../layers/sql/tenancy/Tenants.ts"
import { TenantsApi } from "../api/groups/Tenants.ts"
import { handle } from "../edge/Handlers.ts"
import { paged } from "../edge/response/Paging.ts"

export const tenants = handle(TenantsApi, Effect.provide(Tenants, Tenants.Default), (tenants) => ({
  list: ({ query }) => paged(query, tenants.ofCaller),
  create: ({ payload }) => tenants.create(payload),
  get: ({ path }) => tenants.get(path.tenantId),
  patch: ({ path, payload }) => tenants.patch(path.tenantId, payload),
  remove: ({ path }) => tenants.remove(path.tenantId)
}))
