import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, stamps, text } from "../Schemas.ts"
import { ContractId, ContractInFull } from "./Contract.ts"

export const ProjectId = id("prj", "project")

const writable = {
  name: text(1, 255),
  description: optional(text(0, 1024)),
  order: optional(Order)
}

export const Project = Schema.Struct({ id: ProjectId, contract: ContractId, ...writable, ...stamps }).annotations({
  identifier: "Project"
})

/** A project whose contract is expanded on request. */
export const ProjectInFull = Schema.Struct({
  ...Project.fields,
  contract: Schema.Union(ContractId, ContractInFull)
}).annotations({ identifier: "ProjectInFull" })
export type ProjectInFull = typeof ProjectInFull.Type

/** Relations that can be expanded. `contract.client` includes `contract`. */
export const projectRelations = ["contract", "contract.client"] as const
export type ProjectRelation = (typeof projectRelations)[number]

export const CreateProject = body({ contractId: ContractId, ...writable }).annotations({ identifier: "CreateProject" })
export const PatchProject = patch(writable).annotations({ identifier: "PatchProject" })
