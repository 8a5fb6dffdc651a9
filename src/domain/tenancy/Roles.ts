import { oneOf } from "../Schemas.ts"

/** From least to most: each may do whatever those before it may. */
export const roles = ["VIEWER", "MEMBER", "ADMIN", "OWNER"] as const

export const Role = oneOf(...roles)
export type Role = typeof Role.Type

export const mayActAs = (held: Role, needed: Role) => roles.indexOf(held) >= roles.indexOf(needed)
