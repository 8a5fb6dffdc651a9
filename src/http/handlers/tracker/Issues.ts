import { Effect } from "effect"
import { TrackedIssues } from "../../../layers/tracker/TrackedIssues.ts"
import { IssuesApi } from "../../api/groups/tracker/Issues.ts"
import { handle } from "../../server/Handlers.ts"
import { paged } from "../../server/response/Paging.ts"

export const issues = handle(IssuesApi, Effect.provide(TrackedIssues, TrackedIssues.Default), (issues) => ({
  list: ({ path, query }) => paged(query, (window) => issues.page(path.integrationId, window, query)),
  get: ({ path }) => issues.get(path.integrationId, path.issueId)
}))
