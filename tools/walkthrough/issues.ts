import { randomUUID } from "node:crypto"
import { makeWebhookBody, signJiraToken } from "../../test/support/fixtures/jiraWebhookBody.ts"
import type { RegisteredWebhook } from "../../test/support/servers/jira.ts"
import type { Api, CreatedResource } from "./api.ts"
import { type FakeServers, jiraSecret } from "./fakeServers.ts"
import { pollUntil } from "./steps.ts"

/** The service registers its webhook in the background after the authorization. */
const waitForRegistration = ({ jira }: FakeServers, seconds: number) =>
  pollUntil("the service registers with the tracker", seconds, async () => [...jira.webhooks.values()][0])

/** Sends an issue_created webhook like Jira. Returns whether the service accepted it. */
const sendIssueWebhook = async (webhook: RegisteredWebhook, key: string, title: string) => {
  const response = await fetch(webhook.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await signJiraToken({}, jiraSecret)}`,
      "content-type": "application/json",
      "x-atlassian-webhook-identifier": randomUUID()
    },
    body: JSON.stringify(makeWebhookBody("created", { key, title, timestamp: Date.now(), webhookIds: [webhook.id] }))
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`The webhook returned ${response.status}: ${text}`)
  const { data }: { readonly data: { readonly accepted: boolean } } = JSON.parse(text)
  return data.accepted
}

/** Sends a new issue to the webhook URL that the service has registered. */
export const sendIssue = async (fakes: FakeServers, key: string, title: string, seconds: number) => {
  const webhook = await waitForRegistration(fakes, seconds)
  // The service may not have saved the registration yet.
  await pollUntil(
    "the webhook is accepted",
    seconds,
    async () => (await sendIssueWebhook(webhook, key, title)) || undefined
  )
}

/** Waits until the service has processed the webhook and returns the issue. */
export const waitForIssue = (api: Api, { id }: CreatedResource, key: string, seconds: number) =>
  pollUntil("the issue is tracked", seconds, async () => {
    const [issue] = await api.get<ReadonlyArray<CreatedResource & { readonly state: string }>>(
      `/integrations/${id}/issues?key=${key}`
    )
    return issue
  })
