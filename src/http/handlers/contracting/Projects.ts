import { Projects } from "../../../layers/contracting/Projects.ts"
import { ProjectsApi } from "../../api/groups/contracting/Projects.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const projects = handleGroup(ProjectsApi, Projects.pipe(provideShared(Projects.Default)), (projects) => ({
  list: ({ query }) => listPage(query, (window) => projects.list(window, query)),
  create: ({ payload: { contractId, ...fields } }) => projects.create({ ...fields, contract: contractId }),
  get: ({ path, query }) => projects.getForCaller(path.projectId, query.expand),
  patch: ({ path, payload }) => projects.patch(path.projectId, payload),
  remove: ({ path }) => projects.remove(path.projectId)
}))
