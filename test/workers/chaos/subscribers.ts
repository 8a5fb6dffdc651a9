import type { ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import { assert } from "vitest"
import type { IntegrationBody } from "../../support/fixtures/integrations.ts"
import { type ReceivedRequest, startReceiver } from "../../support/servers/receiver.ts"
import { makeTenantCall, type RetryingCall } from "./retryingClient.ts"

export interface SubscriptionFields {
  readonly eventType: string
  readonly clientId?: string
}

/** An integration with its subscriptions. */
export interface Subscriber {
  readonly tenant: string
  readonly id: string
  readonly subscriptions: ReadonlyArray<SubscriptionFields>
}

/** Fails some requests; returns whether it failed this one. */
type FailureMode = (response: ServerResponse) => boolean

const failWith500: FailureMode = (response) => {
  response.writeHead(500).end("not now")
  return true
}

const dropConnection: FailureMode = (response) => {
  response.destroy()
  return true
}

const sometimes =
  (fail: FailureMode): FailureMode =>
  (response) =>
    Math.random() < 0.1 && fail(response)

export const failureModes = {
  none: (() => false) satisfies FailureMode,
  status500: sometimes(failWith500),
  droppedConnection: sometimes(dropConnection)
}

/** A receiver that verifies the signature of each request and keeps the ids it has accepted. */
const startVerifyingReceiver = async (failureMode: FailureMode) => {
  const accepted = new Set<string>()
  const signatureErrors: Array<string> = []
  let verifier: Webhook | undefined
  let currentMode = failureMode

  const verify = ({ headers, text }: ReceivedRequest) => {
    try {
      verifier?.verify(text, { ...headers })
    } catch (cause) {
      signatureErrors.push(String(cause))
    }
  }
  const receiver = await startReceiver((received, response) => {
    verify(received)
    // The latency of a receiver, so that kills hit requests in flight.
    setTimeout(() => {
      if (currentMode(response)) return
      accepted.add(received.headers["webhook-id"] ?? "")
      response.end()
    }, Math.random() * 20)
  })
  return {
    ...receiver,
    accepted,
    signatureErrors,
    setSecret: (secret: string) => {
      verifier = new Webhook(secret)
    },
    stopFailing: () => {
      currentMode = failureModes.none
    }
  }
}

const createIntegration = async (
  call: RetryingCall,
  tenant: string,
  body: object,
  subscriptions: ReadonlyArray<SubscriptionFields>
) => {
  const callTenant = makeTenantCall(call, tenant)
  const integration: IntegrationBody = await callTenant("POST", "/integrations", body)
  for (const subscription of subscriptions)
    await callTenant("POST", `/integrations/${integration.id}/subscriptions`, subscription)
  return integration
}

/** Subscribes a new receiver through a WEBHOOK integration. */
export const subscribeByWebhook = async (
  call: RetryingCall,
  tenant: string,
  failureMode: FailureMode,
  subscriptions: ReadonlyArray<SubscriptionFields>
) => {
  const receiver = await startVerifyingReceiver(failureMode)
  const integration = await createIntegration(
    call,
    tenant,
    { provider: "WEBHOOK", name: "Webhook", config: { url: `${receiver.url}/hook` } },
    subscriptions
  )
  receiver.setSecret(integration.secret ?? assert.fail("the response has no secret"))
  return { tenant, id: integration.id, subscriptions, receiver }
}

export type WebhookSubscriber = Awaited<ReturnType<typeof subscribeByWebhook>>

export const subscribeByNats = async (
  call: RetryingCall,
  tenant: string,
  subscriptions: ReadonlyArray<SubscriptionFields>
): Promise<Subscriber> => ({
  tenant,
  id: (await createIntegration(call, tenant, { provider: "NATS", name: "Stream" }, subscriptions)).id,
  subscriptions
})
