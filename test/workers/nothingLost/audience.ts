import type { ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import { assert } from "vitest"
import type { IntegrationBody } from "../../support/fixtures/integrations.ts"
import { type ReceivedRequest, startReceiver } from "../../support/servers/receiver.ts"
import { type Call, callIn } from "./caller.ts"

export interface Subscribed {
  readonly eventType: string
  readonly clientId?: string
}

export interface Listener {
  readonly tenant: string
  readonly id: string
  readonly subscriptions: ReadonlyArray<Subscribed>
}

/** How a receiver misbehaves until it is told not to any more. */
type Mood = (response: ServerResponse) => boolean

const refusing: Mood = (response) => {
  response.writeHead(500).end("not now")
  return true
}

const droppingOut: Mood = (response) => {
  response.destroy()
  return true
}

const sometimes =
  (mood: Mood): Mood =>
  (response) =>
    Math.random() < 0.1 && mood(response)

export const moods = {
  well: (() => false) satisfies Mood,
  refusing: sometimes(refusing),
  droppingOut: sometimes(droppingOut)
}

const idOf = ({ headers }: ReceivedRequest) => headers["webhook-id"] ?? ""

/** A receiver that checks every signature when it comes, and knows what it has accepted. */
const startChecking = async (mood: Mood) => {
  const accepted = new Set<string>()
  const forged: Array<string> = []
  let verifier: Webhook | undefined
  let current = mood

  const check = ({ headers, text }: ReceivedRequest) => {
    try {
      verifier?.verify(text, { ...headers })
    } catch (cause) {
      forged.push(String(cause))
    }
  }
  const receiver = await startReceiver((received, response) => {
    check(received)
    // Time enough to be killed in between.
    setTimeout(() => {
      if (current(response)) return
      accepted.add(idOf(received))
      response.end()
    }, Math.random() * 20)
  })
  return {
    ...receiver,
    accepted,
    forged,
    trust: (secret: string) => {
      verifier = new Webhook(secret)
    },
    recover: () => {
      current = moods.well
    }
  }
}

const subscribe = async (call: Call, tenant: string, body: object, subscriptions: ReadonlyArray<Subscribed>) => {
  const ask = callIn(call, tenant)
  const made: IntegrationBody = await ask("POST", "/integrations", body)
  for (const subscription of subscriptions) await ask("POST", `/integrations/${made.id}/subscriptions`, subscription)
  return made
}

/** An integration over a webhook to a receiver here. */
export const listenByWebhook = async (
  call: Call,
  tenant: string,
  mood: Mood,
  subscriptions: ReadonlyArray<Subscribed>
) => {
  const receiver = await startChecking(mood)
  const made = await subscribe(
    call,
    tenant,
    { provider: "WEBHOOK", name: "Hook", config: { url: `${receiver.url}/hook` } },
    subscriptions
  )
  receiver.trust(made.secret ?? assert.fail("no secret was told"))
  return { tenant, id: made.id, subscriptions, receiver }
}

export type WebhookListener = Awaited<ReturnType<typeof listenByWebhook>>

export const listenByNats = async (
  call: Call,
  tenant: string,
  subscriptions: ReadonlyArray<Subscribed>
): Promise<Listener> => ({
  tenant,
  id: (await subscribe(call, tenant, { provider: "NATS", name: "Stream" }, subscriptions)).id,
  subscriptions
})
