import type { FastifyInstance } from "fastify"
import { notFound, validationError } from "../apiError.ts"
import type { ProjectChange } from "../project.ts"
import { patchProject } from "../projectPatch.ts"
import { parseExpand, readProject } from "../projectRead.ts"
import { requireCaller, requireRole } from "./access.ts"
import {
  expandedProjectResponseSchema,
  projectChangeSchema,
  projectParamsSchema,
  projectQuerySchema,
  projectResponseSchema
} from "./projectSchemas.ts"

export const registerProjects = async (app: FastifyInstance) => {
  app.get<{ Params: { id: string }; Querystring: { expand?: string } }>(
    "/:id",
    {
      onRequest: requireCaller,
      schema: {
        params: projectParamsSchema,
        querystring: projectQuerySchema,
        response: { 200: expandedProjectResponseSchema }
      }
    },
    async ({ params, principal, query }) => {
      const expansion = parseExpand(query.expand)
      if (expansion === undefined) throw validationError("expand contains an unknown relation")
      const data = await readProject(principal, params.id, expansion)
      if (data === undefined) throw notFound()
      return { data }
    }
  )

  app.patch<{ Params: { id: string }; Body: ProjectChange }>(
    "/:id",
    {
      onRequest: requireRole("MEMBER"),
      schema: { params: projectParamsSchema, body: projectChangeSchema, response: { 200: projectResponseSchema } }
    },
    async ({ body, caller, params }) => {
      const data = await patchProject(caller, params.id, body)
      if (data === undefined) throw notFound()
      return { data }
    }
  )
}
