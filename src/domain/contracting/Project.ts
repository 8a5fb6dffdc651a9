import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, text, timestamps } from "../Schemas.ts"
import { ContractId, ExpandedContract } from "./Contract.ts"

export const ProjectId = id("prj", "project")

const writable = {
  name: text(1, 255),
  description: optional(text(0, 1024)),
  order: optional(Order)
}

export const Project = Schema.Struct({ id: ProjectId, contract: ContractId, ...writable, ...timestamps }).annotations({
  identifier: "Project"
})

/** A project whose contract is expanded on request. */
export const ExpandedProject = Schema.Struct({
  ...Project.fields,
  contract: Schema.Union(ContractId, ExpandedContract)
}).annotations({ identifier: "ProjectInFull" })
export type ExpandedProject = typeof ExpandedProject.Type

/** Relations that can be expanded. `contract.client` includes `contract`. */
export const projectRelations = ["contract", "contract.client"] as const
export type ProjectRelation = (typeof projectRelations)[number]

export const CreateProject = body({ contractId: ContractId, ...writable }).annotations({ identifier: "CreateProject" })
export const PatchProject = patch(writable).annotations({ identifier: "PatchProject" })
