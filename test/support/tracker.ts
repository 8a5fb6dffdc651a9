import { randomUUID } from "node:crypto"
import { assert } from "vitest"
import type { Answered, CallOptions, Service } from "./service.ts"
import { clientSecret, trackerToken } from "./trackerWebhook.ts"

/** What a service is told to have a tracker. */
export const trackerSettings = {
  JIRA_CLIENT_ID: "client",
  JIRA_CLIENT_SECRET: clientSecret,
  PUBLIC_URL: "https://contracting.example"
}

export const keyOf = (webhookUrl: string) => webhookUrl.split("/").at(-1) ?? ""

/** Sends webhooks as the tracker does. */
export const trackerOf = (service: Service) => {
  const send = async (key: string, body: unknown, options: CallOptions & { identifier?: string } = {}) => {
    const { headers = {}, identifier = randomUUID(), ...rest } = options
    return service.api("POST", `/webhooks/${key}`, {
      as: await trackerToken(),
      body,
      ...rest,
      headers: { "x-atlassian-webhook-identifier": identifier, ...headers }
    })
  }

  /** A JIRA integration, as it is made. */
  const made = async (tenant: string, as = "owner") => {
    const answer = await service.api("POST", "/integrations", { as, tenant, body: { provider: "JIRA", name: "Jira" } })
    assert.strictEqual(answer.status, 201, answer.text)
    const { id, webhookUrl } = answer.body.data
    return { id: String(id), webhookUrl: String(webhookUrl), key: keyOf(webhookUrl) }
  }
  return { send, made }
}

export const assertAccepted = ({ body, status, text }: Answered, accepted = true) => {
  assert.strictEqual(status, 200, text)
  assert.deepStrictEqual(body, { data: { accepted } })
}
