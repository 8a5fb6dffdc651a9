import { Effect } from "effect"
import { Quotas } from "../../../layers/quotas/Quotas.ts"
import { LimitsApi } from "../../api/groups/tenancy/Limits.ts"
import { handleGroup } from "../../server/Handlers.ts"

export const limits = handleGroup(LimitsApi, Effect.provide(Quotas, Quotas.Default), (quotas) => ({
  list: () => quotas.limits
}))
