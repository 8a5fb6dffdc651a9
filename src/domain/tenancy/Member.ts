import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, optional, patch, text, timestamps } from "../Schemas.ts"
import { Role } from "./Roles.ts"

export const MemberId = id("mem", "member")
export type MemberId = typeof MemberId.Type

const identity = {
  issuer: text(1, 255),
  subject: text(1, 255)
}
const writable = { role: Role }

export const Member = Schema.Struct({ id: MemberId, ...identity, ...writable, ...timestamps }).annotations({
  identifier: "Member"
})
export type Member = typeof Member.Type

/** `issuer` defaults to the caller's issuer. */
export const CreateMember = body({ ...identity, issuer: optional(identity.issuer), ...writable }).annotations({
  identifier: "CreateMember"
})
export const PatchMember = patch(writable).annotations({ identifier: "PatchMember" })
