import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, field, Order, optional, patch, text, timestamps } from "../Schemas.ts"
import { ContractId, ExpandedContract } from "./Contract.ts"

export const ProjectId = id("prj", "project")

const writable = {
  name: field(text(1, 255), "Name of the project.", "Pump house"),
  description: optional(field(text(0, 1024), "Free text about the project.", "New pumps and a roof")),
  order: optional(Order)
}

const contract = field(ContractId, "The contract that the project belongs to.")

export const Project = Schema.Struct({ id: ProjectId, contract, ...writable, ...timestamps }).annotations({
  identifier: "Project",
  description: "A piece of work under a contract."
})

/** The fields that a list of projects can be sorted by. */
export const projectSorts = ["name", "createdAt"] as const

/** A project whose contract is expanded on request. */
export const ExpandedProject = Schema.Struct({
  ...Project.fields,
  contract: field(
    Schema.Union(ContractId, ExpandedContract),
    "Identifier of the contract, or the contract itself if it is expanded."
  )
}).annotations({ identifier: "ProjectExpanded", description: "A project, with its contract if it was asked for." })
export type ExpandedProject = typeof ExpandedProject.Type

/** Relations that can be expanded. `contract.client` includes `contract`. */
export const projectRelations = ["contract", "contract.client"] as const
export type ProjectRelation = (typeof projectRelations)[number]

export const CreateProject = body({ contractId: contract, ...writable }).annotations({
  identifier: "CreateProject",
  description: "A new project under a contract."
})
export const PatchProject = patch(writable).annotations({
  identifier: "PatchProject",
  description: "The fields of a project to change."
})
