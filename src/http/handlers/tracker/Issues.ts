import { Effect } from "effect"
import { TrackedIssues } from "../../../layers/sql/tracker/TrackedIssues.ts"
import { IssuesApi } from "../../api/groups/tracker/Issues.ts"
import { handle } from "../../edge/Handlers.ts"
import { paged } from "../../edge/response/Paging.ts"

export const issues = handle(IssuesApi, Effect.provide(TrackedIssues, TrackedIssues.Default), (issues) => ({
  list: ({ path, query }) => paged(query, (window) => issues.page(path.integrationId, window, query)),
  get: ({ path }) => issues.get(path.integrationId, path.issueId)
}))
