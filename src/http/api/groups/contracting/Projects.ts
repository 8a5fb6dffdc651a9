import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ContractId } from "../../../../domain/contracting/Contract.ts"
import {
  CreateProject,
  PatchProject,
  Project,
  ProjectId,
  ProjectInFull,
  projectRelations
} from "../../../../domain/contracting/Project.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { insiders, inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { expansion } from "../../Expand.ts"
import { pageQuery } from "../../Paging.ts"

const path = Schema.Struct({ projectId: ProjectId })
const Expand = expansion(...projectRelations)

export class ProjectsApi extends HttpApiGroup.make("projects")
  .annotate(OpenApi.Description, "Pieces of work under a contract")
  .add(
    HttpApiEndpoint.get("list", "/projects")
      .setUrlParams(Schema.Struct({ ...pageQuery, contractId: optional(ContractId) }))
      .addSuccess(data(Schema.Array(Project)))
      .annotateContext(operation("List projects", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/projects")
      .setPayload(CreateProject)
      .addSuccess(data(Project), created)
      .annotateContext(operation("Create a project", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/projects/:projectId")
      .setPath(path)
      .setUrlParams(Schema.Struct({ expand: optional(Expand) }))
      .addSuccess(data(ProjectInFull))
      .annotateContext(operation("Get one project, with its contract and client if asked for", insiders))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/projects/:projectId")
      .setPath(path)
      .setPayload(PatchProject)
      .addSuccess(data(Project))
      .annotateContext(operation("Change a project", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/projects/:projectId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a project", inTenant("MEMBER")))
  ) {}
