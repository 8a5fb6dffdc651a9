import type { ProjectChange } from "../project.ts"
import { patchProject } from "../projectChanging.ts"
import { extentOf, readProject } from "../projectReading.ts"
import { asCaller, inTenant } from "./access.ts"
import { invalid, notFound } from "./answer.ts"
import { bodyOf, isObjectOf, isOrder, isText } from "./body.ts"

export const projectPath = "/api/v1/projects/"

const identifier = /^prj_[a-z0-9]{1,64}$/

/** The identifier an address ends with, if it is one, and the query behind it. */
const targetOf = (url = "") => {
  const end = url.indexOf("?")
  const id = url.slice(projectPath.length, end < 0 ? undefined : end)
  return { id: identifier.test(id) ? id : undefined, query: end < 0 ? "" : url.slice(end) }
}

const expandIn = (query: string) => (query === "" ? undefined : (new URLSearchParams(query).get("expand") ?? undefined))

const answer = (project: object | undefined) =>
  project === undefined ? notFound : { status: 200, body: `{"data":${JSON.stringify(project)}}` }

export const readOne = asCaller(async ({ url }, principal) => {
  const { id, query } = targetOf(url)
  if (id === undefined) return notFound
  const extent = extentOf(expandIn(query))
  return extent === undefined ? invalid : answer(await readProject(principal, id, extent))
})

const known = new Set(["name", "description", "order"])

const isChange = (body: unknown): body is ProjectChange => {
  if (!isObjectOf(known, body) || Object.keys(body).length === 0) return false
  const { description, name, order } = body
  return (
    (name === undefined || isText(name, 1, 255)) &&
    (description === undefined || description === null || isText(description, 0, 1024)) &&
    (order === undefined || order === null || isOrder(order))
  )
}

export const changeOne = inTenant("MEMBER", async (request, tenant) => {
  const { id } = targetOf(request.url)
  const body = await bodyOf(request)
  if (id === undefined) return notFound
  return isChange(body) ? answer(await patchProject(tenant, id, body)) : invalid
})
