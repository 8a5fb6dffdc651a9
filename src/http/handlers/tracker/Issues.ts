import { TrackedIssues } from "../../../layers/tracker/TrackedIssues.ts"
import { IssuesApi } from "../../api/groups/tracker/Issues.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const issues = handleGroup(IssuesApi, TrackedIssues.pipe(provideShared(TrackedIssues.Default)), (issues) => ({
  list: ({ path, query }) => listPage(query, (window) => issues.page(path.integrationId, window, query)),
  get: ({ path }) => issues.get(path.integrationId, path.issueId)
}))
