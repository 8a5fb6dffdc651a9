import { Context } from "effect"
import type { Role } from "../../domain/tenancy/Roles.ts"

/** The callers that an operation allows. The service does not start if an operation has no rule. */
export type AccessRule =
  | { readonly for: "anyone" }
  | { readonly for: "caller" }
  /** A request without a bearer token, or with a valid one. The handler decides what an anonymous one may do. */
  | { readonly for: "optionalAuth" }
  /** A member of the tenant that owns the resource in the path. The query that reads the resource checks it. */
  | { readonly for: "resourceMember" }
  /** The tracker that has the endpoint key in the path, or an administrator of the key's tenant. */
  | { readonly for: "tracker" }
  | {
      readonly for: "member"
      /** Where the tenant comes from. Non-members get 404 for a tenant in the path, 403 for one in the header. */
      readonly tenant: "header" | "path"
      readonly role: Role
      /** Whether members with too low a role get 404 instead of 403. */
      readonly hidden: boolean
    }

export class EndpointAccess extends Context.Tag("http/EndpointAccess")<EndpointAccess, AccessRule>() {}

export const anyone: AccessRule = { for: "anyone" }
export const anyCaller: AccessRule = { for: "caller" }

export const optionalAuth: AccessRule = { for: "optionalAuth" }

export const resourceMember: AccessRule = { for: "resourceMember" }

export const trackerOrAdmin: AccessRule = { for: "tracker" }

/** Members of the tenant in the `tenant-id` header, with at least this role. */
export const inTenant = (role: Role): AccessRule => ({ for: "member", tenant: "header", role, hidden: false })

/** Members of the tenant in the path's `tenantId`, with at least this role. */
export const inPathTenant = (role: Role, options: { readonly hidden?: boolean } = {}): AccessRule => ({
  for: "member",
  tenant: "path",
  role,
  hidden: options.hidden ?? false
})

/**
 * Whether an operation does nothing before its first statement, and goes on only if that succeeds. Then PostgreSQL can check
 * the caller's membership together with it, so that the handler does not get to know the member.
 */
export class StartsWithStatement extends Context.Reference<StartsWithStatement>()("http/StartsWithStatement", {
  defaultValue: () => false
}) {}

/** Whether the handler reads the body as a stream, instead of decoded. */
export class StreamedUpload extends Context.Reference<StreamedUpload>()("http/StreamedUpload", {
  defaultValue: () => false
}) {}

/** Whether the sender retries a 503 but no other error. Then every internal error becomes a 503. */
export class RetriedBySender extends Context.Reference<RetriedBySender>()("http/RetriedBySender", {
  defaultValue: () => false
}) {}

/** Whether a GET has side effects. Then it has no HEAD, no ETag, and a disconnect does not interrupt it. */
export class UnsafeGet extends Context.Reference<UnsafeGet>()("http/UnsafeGet", { defaultValue: () => false }) {}

/** Whether an operation inserts no events, so that it need not wake the relay. */
export class NoEvents extends Context.Reference<NoEvents>()("http/NoEvents", { defaultValue: () => false }) {}

/** The most bytes of a request body. */
export class MaxBodyBytes extends Context.Reference<MaxBodyBytes>()("http/MaxBodyBytes", {
  defaultValue: () => 1024 * 1024
}) {}

/**
 * Whether an operation mostly waits for something other than the database, such as a provider or a PDF, and so must not
 * take the permits of quick requests.
 */
export class External extends Context.Reference<External>()("http/External", { defaultValue: () => false }) {}

/** Whether an operation returns a list as a whole, and so page by page if it is long. */
export class WholeList extends Context.Reference<WholeList>()("http/WholeList", { defaultValue: () => false }) {}
