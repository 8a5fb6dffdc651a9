import { makeOperations } from "./generated/operations.ts"
import type { Event } from "./generated/schemas.ts"
import { type ClientOptions, makeTransport } from "./transport.ts"
import { type ReceivedWebhook, verifySignature } from "./webhooks.ts"

export { ApiError, ConnectionError, type ErrorDetail } from "./errors.ts"
export * from "./generated/errors.ts"
export type * from "./generated/schemas.ts"
export type { List } from "./list.ts"
export type { Bytes, ClientOptions, IdempotencyOption, MatchOption, RequestOptions } from "./transport.ts"
export { type ReceivedWebhook, signWebhook, type WebhookToSign, WebhookVerificationError } from "./webhooks.ts"

export interface ContractingClient extends ReturnType<typeof makeOperations> {
  /** The same client in a tenant. */
  readonly withTenant: (tenantId: string) => ContractingClient
}

/** A client of the service: a group for each resource, with a method for each operation. */
export const createClient = (options: ClientOptions): ContractingClient => ({
  ...makeOperations(makeTransport(options)),
  withTenant: (tenantId) => createClient({ ...options, tenantId })
})

/** Returns the event of a webhook that the service signed. Fails with a `WebhookVerificationError` otherwise. */
export const verifyWebhook = async (webhook: ReceivedWebhook): Promise<Event> =>
  (await verifySignature(webhook)) as Event // only the service has the secret, and it sends events
