import { Context, Effect, Option } from "effect"
import type { MemberId } from "./Member.ts"
import type { Role } from "./Roles.ts"
import type { TenantId } from "./Tenant.ts"

/** The authenticated caller. A subject is unique only within its issuer. */
export class Principal extends Context.Tag("domain/Principal")<
  Principal,
  { readonly issuer: string; readonly subject: string }
>() {}

/** The subject of the caller, or undefined in a worker. */
export const subjectIn = (context: Context.Context<never>) => {
  const principal = Context.getOption(context, Principal)
  return Option.isSome(principal) ? principal.value.subject : undefined
}

export const currentSubject = Effect.map(Effect.context<never>(), subjectIn)

const cachedKeys = new WeakMap<Principal["Type"], string>()

/** A unique key of the caller. The token cache returns the same object per token, so each key is computed once. */
export const callerKey = (principal: Principal["Type"]) => {
  const cached = cachedKeys.get(principal)
  if (cached !== undefined) return cached
  const key = JSON.stringify([principal.issuer, principal.subject])
  cachedKeys.set(principal, key)
  return key
}

/**
 * The tenant of the current request or message. The type checker rejects tenant queries outside of a tenant.
 * @effect-leakable-service
 */
export class CurrentTenant extends Context.Tag("domain/CurrentTenant")<CurrentTenant, TenantId>() {}

/** The caller's membership in the current tenant. */
export class CurrentMember extends Context.Tag("domain/CurrentMember")<
  CurrentMember,
  { readonly id: MemberId; readonly role: Role }
>() {}

/** The endpoint that received an inbound webhook, and whether the tracker itself sent it. */
export class InboundRequest extends Context.Tag("domain/InboundRequest")<
  InboundRequest,
  {
    readonly tenant: TenantId
    readonly integration: string
    readonly keyHash: Uint8Array
    readonly isTracker: boolean
  }
>() {}

/**
 * The entity tags of the If-Match header. Without the header it is undefined, and a write applies to any version.
 * @effect-leakable-service
 */
export class IfMatch extends Context.Tag("domain/IfMatch")<IfMatch, ReadonlyArray<string> | undefined>() {}

/** Services of the request that the pipeline provides to a handler. */
export type RequestServices = Principal | CurrentTenant | CurrentMember | InboundRequest | IfMatch
