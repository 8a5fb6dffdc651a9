import { Projects } from "../../layers/contracting/Projects.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { ProjectsApi } from "./ProjectsApi.ts"

export const projects = handleGroup(ProjectsApi, Projects, (projects) => ({
  list: ({ query }) => listPage(query, (window) => projects.list(window, query)),
  create: ({ payload: { contractId, ...fields } }) => projects.create({ ...fields, contract: contractId }),
  get: ({ path, query }) => projects.getForCaller(path.projectId, query.expand),
  patch: ({ path, payload }) => projects.patch(path.projectId, payload),
  remove: ({ path }) => projects.remove(path.projectId)
}))
