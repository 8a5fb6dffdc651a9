import { Effect } from "effect"
import { filledContract } from "../../../domain/contracting/Contract.ts"
import { Contracts } from "../../../layers/contracting/Contracts.ts"
import { ContractsApi } from "../../api/groups/contracting/Contracts.ts"
import { handle } from "../../server/Handlers.ts"
import { paged } from "../../server/response/Paging.ts"

export const contracts = handle(ContractsApi, Effect.provide(Contracts, Contracts.Default), (contracts) => ({
  list: ({ query }) => paged(query, (window) => contracts.page(window, { client: query.clientId })),
  create: ({ payload }) => contracts.create(filledContract(payload)),
  get: ({ path }) => contracts.get(path.contractId),
  patch: ({ path, payload }) => contracts.patch(path.contractId, payload),
  remove: ({ path }) => contracts.remove(path.contractId)
}))
