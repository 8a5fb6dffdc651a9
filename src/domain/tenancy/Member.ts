import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, field, optional, patch, text, timestamps } from "../Schemas.ts"
import { Role } from "./Roles.ts"

export const MemberId = id("mem", "member")
export type MemberId = typeof MemberId.Type

const identity = {
  issuer: field(
    text(1, 255),
    "Issuer of the tokens of this person, as in their `iss` claim.",
    "https://id.example.com"
  ),
  subject: field(text(1, 255), "The person at that issuer, as in the `sub` claim of their tokens.", "bob")
}
const writable = { role: Role }

export const Member = Schema.Struct({ id: MemberId, ...identity, ...writable, ...timestamps }).annotations({
  identifier: "Member",
  description: "A person who belongs to a tenant, with a role."
})
export type Member = typeof Member.Type

export const CreateMember = body({
  ...identity,
  issuer: optional(
    field(identity.issuer, "Issuer of the tokens of this person, as in their `iss` claim. Default: that of the caller.")
  ),
  ...writable
}).annotations({ identifier: "CreateMember", description: "The person to add, and their role." })
export const PatchMember = patch(writable).annotations({
  identifier: "PatchMember",
  description: "The new role of a member."
})
