import { field, oneOf } from "../Schemas.ts"

/** In ascending order. Each role includes the permissions of the roles before it. */
export const roles = ["VIEWER", "MEMBER", "ADMIN", "OWNER"] as const

export const Role = field(
  oneOf(...roles),
  `Permissions of the member in the tenant, ascending: ${roles.join(", ")}. Each role includes those before it.`,
  "MEMBER"
)
export type Role = typeof Role.Type

/** The roles that include this one. */
export const rolesFrom = (role: Role) => roles.slice(roles.indexOf(role))

export const hasRole = (actual: Role, required: Role) => roles.indexOf(actual) >= roles.indexOf(required)
