import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { ContractId } from "../../domain/contracting/Contract.ts"
import {
  CreateProject,
  ExpandedProject,
  PatchProject,
  Project,
  ProjectId,
  projectRelations,
  projectSorts
} from "../../domain/contracting/Project.ts"
import { field, optional } from "../../domain/Schemas.ts"
import { inTenant, resourceMember, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { expandParameter } from "../api/Expand.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields, searchParameter, sortParameter } from "../api/Paging.ts"

const path = Schema.Struct({ projectId: ProjectId })
const Expand = expandParameter(...projectRelations)

export class ProjectsApi extends HttpApiGroup.make("projects")
  .annotateContext(tag("Projects", "Contracts", "Pieces of work under a contract."))
  .add(
    HttpApiEndpoint.get("list", "/projects")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          contractId: optional(field(ContractId, "Only projects of this contract.")),
          clientId: optional(field(ClientId, "Only projects for this client.")),
          ...searchParameter("the name"),
          ...sortParameter(projectSorts, "`order`, then by identifier")
        })
      )
      .addSuccess(data(Schema.Array(Project)))
      .annotateContext(
        operation("List projects", inTenant("VIEWER"), {
          description:
            "Lists projects of the tenant, sorted by `order`, then by identifier, one page at a time. Filters by " +
            "contract, client and name."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/projects")
      .setPayload(CreateProject)
      .addSuccess(data(Project), created)
      .annotateContext(
        operation("Create a project", inTenant("MEMBER"), {
          description: "Adds a project to a contract.",
          rejects: ["a `contractId` that does not exist in the tenant (404)"],
          events: ["project.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/projects/:projectId")
      .setPath(path)
      .setUrlParams(Schema.Struct({ expand: optional(Expand) }))
      .addSuccess(data(ExpandedProject))
      .annotateContext(
        operation("Get a project, with its contract and client on request", resourceMember, {
          description:
            "Returns one project of any of your tenants, without the header `tenant-id`. `expand=contract` " +
            "includes its contract, and `expand=contract.client` the client of the contract as well."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/projects/:projectId")
      .setPath(path)
      .setPayload(PatchProject)
      .addSuccess(data(Project))
      .annotateContext(
        operation("Update a project", inTenant("MEMBER"), {
          description: "Changes the given fields of a project.",
          events: ["project.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/projects/:projectId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a project", inTenant("MEMBER"), {
          description: "Deletes a project.",
          events: ["project.deleted"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
