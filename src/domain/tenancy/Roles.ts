import { oneOf } from "../Schemas.ts"

/** In ascending order. Each role includes the permissions of the roles before it. */
export const roles = ["VIEWER", "MEMBER", "ADMIN", "OWNER"] as const

export const Role = oneOf(...roles)
export type Role = typeof Role.Type

export const hasRole = (actual: Role, required: Role) => roles.indexOf(actual) >= roles.indexOf(required)
