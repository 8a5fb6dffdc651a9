import { Effect } from "effect"
import { Clients } from "../../layers/sql/contracting/Clients.ts"
import { ClientsApi } from "../api/groups/Clients.ts"
import { handle } from "../edge/Handlers.ts"

export const clients = handle(ClientsApi, Effect.provide(Clients, Clients.Default), (clients) => ({
  list: () => clients.list(),
  create: ({ payload }) => clients.create(payload),
  get: ({ path }) => clients.get(path.clientId),
  patch: ({ path, payload }) => clients.patch(path.clientId, payload),
  remove: ({ path }) => clients.remove(path.clientId)
}))
