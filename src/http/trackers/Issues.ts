import { TrackedIssues } from "../../layers/trackers/TrackedIssues.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { IssuesApi } from "./IssuesApi.ts"

export const issues = handleGroup(IssuesApi, TrackedIssues, (issues) => ({
  list: ({ path, query }) => listPage(query, (window) => issues.page(path.integrationId, window, query)),
  get: ({ path }) => issues.get(path.integrationId, path.issueId)
}))
