import { once } from "node:events"
import { createServer } from "node:http"
import { type ContractingClient, type Integration, ValidationError } from "../../dist/client/index.js"
import { UsageError } from "../common/connection.ts"
import { pollUntil } from "../walkthrough/steps.ts"
import type { EnsuredContract } from "./contracting.ts"
import { billedIssues, issues } from "./data.ts"
import { ensure } from "./ensure.ts"
import { ensureEmptyDraft } from "./invoicing.ts"

const name = "Jira (demo)"

const addressOf = (port: number) => `http://127.0.0.1:${port}`

/** Settings with which the service takes the stand-in for Jira, and may send webhooks to this machine. */
export const settingsFor = (serviceUrl: string, port: number) => ({
  PUBLIC_URL: serviceUrl,
  OAUTH_TRUSTED_ORIGINS: serviceUrl,
  JIRA_CLIENT_ID: "demo",
  JIRA_CLIENT_SECRET: "demo",
  JIRA_AUTHORIZE_URL: `${addressOf(port)}/authorize`,
  JIRA_TOKEN_URL: `${addressOf(port)}/token`,
  JIRA_API_URL: addressOf(port),
  DELIVERY_ALLOW: "127.0.0.0/8"
})

/** What the service asks Jira for: tokens, sites, and a webhook of its own. */
const responses: Readonly<Record<string, object>> = {
  "POST /token": { access_token: "demo", refresh_token: "demo", token_type: "Bearer", expires_in: 30 * 24 * 3600 },
  "GET /oauth/token/accessible-resources": [
    { id: "demo-site", name: "Brennecke", url: "https://brennecke.example", scopes: [] }
  ],
  "GET /ex/jira/demo-site/rest/api/3/webhook": { isLast: true, values: [] },
  "POST /ex/jira/demo-site/rest/api/3/webhook": { webhookRegistrationResult: [{ createdWebhookId: 1 }] }
}

/** A stand-in for Jira, for as long as the demo runs. */
const startJira = async (port: number) => {
  const server = createServer((request, response) => {
    request.resume()
    const found = responses[`${request.method} ${request.url?.split("?")[0]}`]
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(found ?? {}))
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening").catch(() => {
    throw new UsageError(`Port ${port} is taken. Give another one with --jira-port, and restart the service with it.`)
  })
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

/** Consents in the place of a user. Returns false when the service uses another Jira, where only a user can. */
const authorize = async (api: ContractingClient, { id }: Integration, origin: string, port: number) => {
  const { authorizationUrl } = await api.integrations.authorize(id, { origin })
  if (!authorizationUrl.startsWith(addressOf(port))) return false
  const state = new URL(authorizationUrl).searchParams.get("state") ?? ""
  await api.integrations.callback({ code: "demo", state })
  return true
}

const isNotConfigured = (error: unknown) =>
  error instanceof ValidationError && error.details.some(({ field }) => field === "provider")

/** The integration with Jira, authorized; undefined when the service is not configured for the stand-in. */
const ensureIntegration = async (api: ContractingClient, origin: string, port: number) => {
  const integrations = await api.integrations.list().toArray()
  const create = (): Promise<Integration> => api.integrations.create({ provider: "JIRA", name })
  try {
    const integration = await ensure(integrations, (one) => one.name === name, create)
    if (integration.isAuthorized) return integration
    return (await authorize(api, integration, origin, port)) ? integration : undefined
  } catch (error) {
    if (isNotConfigured(error)) return undefined
    throw error
  }
}

const bodyOf = ({ id, key, state, title }: (typeof issues)[number]) => ({
  timestamp: Date.now(),
  webhookEvent: "jira:issue_created" as const,
  matchedWebhookIds: [],
  issue: {
    id,
    key,
    fields: { summary: title, status: { name: state }, project: { key: key.split("-")[0] ?? "" } }
  }
})

/** Sends the issues that are missing to the public endpoint for webhooks. */
const ensureIssues = async (api: ContractingClient, integration: Integration) => {
  const list = () => api.issues.list(integration.id).toArray()
  const known = new Set((await list()).map(({ issueKey }) => issueKey))
  const missing = issues.filter(({ key }) => !known.has(key))
  if (missing.length === 0) return
  const { webhookUrl = "" } = await api.integrations.rotateSecret(integration.id, { overlapHours: 0 })
  const endpointKey = new URL(webhookUrl).pathname.split("/").at(-1) ?? ""
  for (const issue of missing)
    await api.webhooks.receive(endpointKey, bodyOf(issue), {
      headers: { "x-atlassian-webhook-identifier": `demo-${issue.id}` }
    })
  await pollUntil("the issues are there", 60, async () => ((await list()).length >= issues.length ? true : undefined))
}

/** A draft with lines for issues. */
const ensureIssueInvoice = async (
  api: ContractingClient,
  { id: integrationId }: Integration,
  contracts: ReadonlyArray<EnsuredContract>
) => {
  const lines = await api.billables.list({ limit: 200 }).toArray()
  if (lines.some(({ referenceId }) => billedIssues.issueKeys.includes(referenceId ?? ""))) return
  const [first] = contracts
  if (first === undefined) throw new Error("The demo has no contract")
  const invoice = await ensureEmptyDraft(api, first.contract)
  await api.billables.createFromIssues(invoice.id, { integrationId, ...billedIssues })
}

interface TrackerOptions {
  readonly serviceUrl: string
  readonly port: number
  readonly contracts: ReadonlyArray<EnsuredContract>
}

/** Issues from webhooks, and an invoice for them. Returns false when the service is not configured for it. */
export const ensureTracker = async (api: ContractingClient, options: TrackerOptions) => {
  const { contracts, port, serviceUrl } = options
  const stop = await startJira(port)
  try {
    const integration = await ensureIntegration(api, serviceUrl, port)
    if (integration === undefined) return false
    await ensureIssues(api, integration)
    await ensureIssueInvoice(api, integration, contracts)
    return true
  } finally {
    stop()
  }
}
