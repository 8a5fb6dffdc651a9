import { Either } from "effect"
import { Forbidden, fieldError, type ValidationError } from "../Errors.ts"
import { hasRole, type Role } from "./Roles.ts"

/** Fails unless the actor may manage members with these roles. Only an OWNER may grant or change the role OWNER. */
export const requireCanManage = (actor: Role, ...roles: ReadonlyArray<Role>): Either.Either<void, Forbidden> =>
  hasRole(actor, roles.includes("OWNER") ? "OWNER" : "ADMIN") ? Either.void : Either.left(new Forbidden())

/** Whether a change takes the role OWNER from a member. `after` is undefined for a removal. */
export const losesOwner = (before: Role, after: Role | undefined) => before === "OWNER" && after !== "OWNER"

/** Fails if the tenant has no other owner than the member that loses the role. */
export const requireOtherOwner = (ownerCount: number): Either.Either<void, ValidationError> =>
  ownerCount > 1
    ? Either.void
    : Either.left(fieldError("role", "state", "is OWNER, and no other member is; make another member an OWNER first"))
