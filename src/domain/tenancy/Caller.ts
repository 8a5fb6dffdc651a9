import { Context } from "effect"
import type { MemberId } from "./Member.ts"
import type { Role } from "./Roles.ts"
import type { TenantId } from "./Tenant.ts"

/** Who is calling. A subject means nothing without the issuer that vouches for it. */
export class Principal extends Context.Tag("domain/Principal")<
  Principal,
  { readonly issuer: string; readonly subject: string }
>() {}

const keys = new WeakMap<Principal["Type"], string>()

/** Names a caller among keys. A principal is the same object while its token is remembered, so its name is made once. */
export const callerKey = (principal: Principal["Type"]) => {
  const known = keys.get(principal)
  if (known !== undefined) return known
  const made = JSON.stringify([principal.issuer, principal.subject])
  keys.set(principal, made)
  return made
}

/**
 * The tenant a request or a message works in. A query that needs it cannot run without it.
 * @effect-leakable-service
 */
export class CurrentTenant extends Context.Tag("domain/CurrentTenant")<CurrentTenant, TenantId>() {}

/** The caller's own membership of that tenant. */
export class CurrentMember extends Context.Tag("domain/CurrentMember")<
  CurrentMember,
  { readonly id: MemberId; readonly role: Role }
>() {}

/** The address a webhook came in at, and whether the tracker itself sent it. */
export class InboundCall extends Context.Tag("domain/InboundCall")<
  InboundCall,
  {
    readonly tenant: TenantId
    readonly integration: string
    readonly keyHash: Uint8Array
    readonly isTracker: boolean
  }
>() {}

/**
 * The entity tags a write may meet, or undefined when the caller does not care.
 * @effect-leakable-service
 */
export class IfMatch extends Context.Tag("domain/IfMatch")<IfMatch, ReadonlyArray<string> | undefined>() {}
