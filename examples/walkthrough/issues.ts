import { randomUUID } from "node:crypto"
import { makeWebhookBody, signJiraToken } from "../../test/support/fixtures/jiraWebhookBody.ts"
import type { RegisteredWebhook } from "../../test/support/servers/jira.ts"
import type { Api, Made } from "./api.ts"
import { type StandIns, trackerSecret } from "./standIns.ts"
import { until } from "./steps.ts"

/** Where the tracker was told to send webhooks. The service tells it by itself, once it may. */
const registered = ({ tracker }: StandIns, seconds: number) =>
  until("the service registers with the tracker", seconds, async () => [...tracker.webhooks.values()][0])

/** Tells of a new issue as the tracker does. */
const tell = async (hook: RegisteredWebhook, key: string, title: string) => {
  const response = await fetch(hook.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await signJiraToken({}, trackerSecret)}`,
      "content-type": "application/json",
      "x-atlassian-webhook-identifier": randomUUID()
    },
    body: JSON.stringify(makeWebhookBody("created", { key, title, timestamp: Date.now(), webhookIds: [hook.id] }))
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`The webhook was answered ${response.status}: ${text}`)
  const { data }: { readonly data: { readonly accepted: boolean } } = JSON.parse(text)
  return data.accepted
}

/** The tracker tells of a new issue, at the address that was registered with it. */
export const tellOfIssue = async (standIns: StandIns, key: string, title: string, seconds: number) => {
  const hook = await registered(standIns, seconds)
  // The service may not have written down yet what it has just registered.
  await until("the webhook is accepted", seconds, async () => (await tell(hook, key, title)) || undefined)
}

/** The issue as the service knows it, once the webhook was worked. */
export const tracked = (api: Api, { id }: Made, key: string, seconds: number) =>
  until("the issue is tracked", seconds, async () => {
    const [issue] = await api.get<ReadonlyArray<Made & { readonly state: string }>>(
      `/integrations/${id}/issues?key=${key}`
    )
    return issue
  })
