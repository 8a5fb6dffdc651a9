import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ContractId } from "../../../../domain/contracting/Contract.ts"
import {
  CreateProject,
  ExpandedProject,
  PatchProject,
  Project,
  ProjectId,
  projectRelations
} from "../../../../domain/contracting/Project.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation, resourceMember } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { expandParameter } from "../../Expand.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ projectId: ProjectId })
const Expand = expandParameter(...projectRelations)

export class ProjectsApi extends HttpApiGroup.make("projects")
  .annotate(OpenApi.Description, "Pieces of work under a contract")
  .add(
    HttpApiEndpoint.get("list", "/projects")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, contractId: optional(ContractId) }))
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
      .addSuccess(data(ExpandedProject))
      .annotateContext(operation("Get one project, with its contract and client if asked for", resourceMember))
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
