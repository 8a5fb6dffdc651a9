import type { ProjectChange } from "../project.ts"
import { patchProject } from "../projectPatch.ts"
import { parseExpand, readProject } from "../projectRead.ts"
import { withCaller, withTenant } from "./access.ts"
import { isObjectWith, isOrder, isText, readBody } from "./body.ts"
import { notFound, validationError } from "./response.ts"

export const projectPath = "/api/v1/projects/"

const projectIdPattern = /^prj_[a-z0-9]{1,64}$/

/** The id at the end of the path, if it is valid, and the query. */
const parseTarget = (url = "") => {
  const end = url.indexOf("?")
  const id = url.slice(projectPath.length, end < 0 ? undefined : end)
  return { id: projectIdPattern.test(id) ? id : undefined, query: end < 0 ? "" : url.slice(end) }
}

const parseExpandParameter = (query: string) =>
  query === "" ? undefined : (new URLSearchParams(query).get("expand") ?? undefined)

const makeProjectResponse = (project: object | undefined) =>
  project === undefined ? notFound : { status: 200, body: `{"data":${JSON.stringify(project)}}` }

export const handleReadProject = withCaller(async ({ url }, principal) => {
  const { id, query } = parseTarget(url)
  if (id === undefined) return notFound
  const expansion = parseExpand(parseExpandParameter(query))
  return expansion === undefined ? validationError : makeProjectResponse(await readProject(principal, id, expansion))
})

const projectFields = new Set(["name", "description", "order"])

const isProjectChange = (body: unknown): body is ProjectChange => {
  if (!isObjectWith(projectFields, body) || Object.keys(body).length === 0) return false
  const { description, name, order } = body
  return (
    (name === undefined || isText(name, 1, 255)) &&
    (description === undefined || description === null || isText(description, 0, 1024)) &&
    (order === undefined || order === null || isOrder(order))
  )
}

export const handlePatchProject = withTenant("MEMBER", async (request, caller) => {
  const { id } = parseTarget(request.url)
  const body = await readBody(request)
  if (id === undefined) return notFound
  return isProjectChange(body) ? makeProjectResponse(await patchProject(caller, id, body)) : validationError
})
