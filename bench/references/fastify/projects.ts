import type { FastifyInstance } from "fastify"
import type { ProjectChange } from "../project.ts"
import { patchProject } from "../projectChanging.ts"
import { extentOf, readProject } from "../projectReading.ts"
import { broken, notFound } from "../refused.ts"
import { requireCaller, requireRole } from "./access.ts"
import { oneProject, oneProjectInFull, projectChange, projectPath, projectQuery } from "./projectSchemas.ts"

export const projects = async (app: FastifyInstance) => {
  app.get<{ Params: { id: string }; Querystring: { expand?: string } }>(
    "/:id",
    {
      onRequest: requireCaller,
      schema: { params: projectPath, querystring: projectQuery, response: { 200: oneProjectInFull } }
    },
    async ({ params, principal, query }) => {
      const extent = extentOf(query.expand)
      if (extent === undefined) throw broken("expand names relations there are not")
      const data = await readProject(principal, params.id, extent)
      if (data === undefined) throw notFound()
      return { data }
    }
  )

  app.patch<{ Params: { id: string }; Body: ProjectChange }>(
    "/:id",
    {
      onRequest: requireRole("MEMBER"),
      schema: { params: projectPath, body: projectChange, response: { 200: oneProject } }
    },
    async ({ body, params, tenant }) => {
      const data = await patchProject(tenant, params.id, body)
      if (data === undefined) throw notFound()
      return { data }
    }
  )
}
