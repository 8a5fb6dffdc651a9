import { OpenApi } from "@effect/platform"
import { Context } from "effect"
import type { Role } from "../../domain/tenancy/Roles.ts"

/** Who may call an operation. Every operation says it; one that does not is refused when the service starts. */
export type AccessRule =
  | { readonly for: "anyone" }
  | { readonly for: "caller" }
  /** Who has no bearer, or a good one. Who is let in without one, and as what, the handler decides. */
  | { readonly for: "visitor" }
  /** Who belongs to the tenant of the resource in the path, which the statement that reads the resource finds out. */
  | { readonly for: "insider" }
  /** The tracker that was told the key in the path, or an administrator of the tenant whose key it is. */
  | { readonly for: "tracker" }
  | {
      readonly for: "member"
      /** Where the tenant is named. One in the path is hidden from outsiders (404), one in the header forbidden (403). */
      readonly tenant: "header" | "path"
      readonly role: Role
      /** Whether members of too low a role are told 404 as well. */
      readonly hidden: boolean
    }

export class Access extends Context.Tag("http/Access")<Access, AccessRule>() {}

export const anyone: AccessRule = { for: "anyone" }
export const anyCaller: AccessRule = { for: "caller" }

export const visitors: AccessRule = { for: "visitor" }

export const insiders: AccessRule = { for: "insider" }

export const trackers: AccessRule = { for: "tracker" }

/** Members of the tenant named by the `tenant-id` header, from this role upwards. */
export const inTenant = (role: Role): AccessRule => ({ for: "member", tenant: "header", role, hidden: false })

/** Members of the tenant named by `tenantId` in the path, from this role upwards. */
export const ofTenant = (role: Role, options: { readonly hidden?: boolean } = {}): AccessRule => ({
  for: "member",
  tenant: "path",
  role,
  hidden: options.hidden ?? false
})

/** What the contract says of every operation beside its shapes: what it is for, and who may call it. */
export const operation = (summary: string, access: AccessRule) =>
  Context.make(Access, access).pipe(Context.add(OpenApi.Summary, summary))

/** Whether the handler takes the body as it comes, instead of being given what it says. */
export class Streamed extends Context.Reference<Streamed>()("http/Streamed", { defaultValue: () => false }) {}

/** Whether the caller sends again what we fail at, but nothing that we refuse: then every fault of ours is a 503. */
export class SentAgain extends Context.Reference<SentAgain>()("http/SentAgain", { defaultValue: () => false }) {}

/** Whether reading does something that can be done once only: nothing is to be kept, compared, or tried with HEAD. */
export class OnceOnly extends Context.Reference<OnceOnly>()("http/OnceOnly", { defaultValue: () => false }) {}

/** Whether an operation makes no events, so that nobody needs to be told of new ones. */
export class Eventless extends Context.Reference<Eventless>()("http/Eventless", { defaultValue: () => false }) {}

/** How many bytes of body an operation takes. */
export class BodyLimit extends Context.Reference<BodyLimit>()("http/BodyLimit", { defaultValue: () => 1024 * 1024 }) {}

/**
 * Whether an operation takes long, mostly for something outside of the database such as a provider or a drawing, and so
 * must not hold one of the permits that quick requests share.
 */
export class External extends Context.Reference<External>()("http/External", { defaultValue: () => false }) {}

/** Whether a read holds a connection for many statements, or for one that may take long. */
export class LongRead extends Context.Reference<LongRead>()("http/LongRead", { defaultValue: () => false }) {}
