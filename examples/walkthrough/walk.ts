import { type Api, type CreatedResource, connectApi } from "./api.ts"
import { findDriveFile, findWebhook } from "./deliveries.ts"
import { driveFolder, type FakeServers } from "./fakeServers.ts"
import { authorize, subscribe } from "./integrations.ts"
import { sendIssue, waitForIssue } from "./issues.ts"
import { drawLogo } from "./logo.ts"
import type { Step } from "./steps.ts"

interface WalkOptions {
  readonly url: string
  readonly token: string
  readonly fakes: FakeServers
  readonly step: Step
  /** The timeout of everything that the service does in the background. */
  readonly timeoutSeconds: number
}

/** Creates a tenant with a logo, a client and a contract. */
const createContract = async ({ step, token, url }: WalkOptions) => {
  const tenant = await step(
    "tenant",
    () => connectApi(url, token).post("/tenants", { name: "Harbour Works" }),
    ({ id }) => `Harbour Works is ${id}`
  )
  const api = connectApi(url, token, tenant.id)

  const uploadLogo = async () => {
    const { assetId } = await api.post<{ readonly assetId: string }>("/assets", {
      kind: "BRANDING_LOGO",
      contentType: "image/png"
    })
    await api.upload(`/assets/${assetId}/content`, await drawLogo())
    await api.post(`/assets/${assetId}/complete`)
    await api.put(`/tenants/${tenant.id}/media/logo`, { assetId })
    return assetId
  }
  await step("logo", uploadLogo, (id) => `${id} is uploaded, verified and on every invoice from now on`)

  const client = await step(
    "client",
    () => api.post("/clients", { name: "Northwind" }),
    ({ id }) => `Northwind is ${id}`
  )
  const terms = { clientId: client.id, name: "Maintenance", currencyCode: "EUR", status: "ACTIVE" }
  const contract = await step(
    "contract",
    () => api.post("/contracts", terms),
    ({ id }) => `Maintenance in EUR is ${id}`
  )
  return { api, contract }
}

/** Creates and authorizes the integrations: a webhook receiver, Jira and Google Drive. */
const connectIntegrations = async (api: Api, { fakes: { receiver }, step }: WalkOptions) => {
  const connectReceiver = async () => {
    const integration = { provider: "WEBHOOK", name: "Books", config: { url: receiver.url } }
    const webhook = await api.post<CreatedResource & { readonly secret: string }>("/integrations", integration)
    await subscribe(api, webhook, "invoice.finalized")
    return webhook
  }
  const webhook = await step("receiver", connectReceiver, ({ id }) => `${id} is subscribed to invoice.finalized`)

  const connectJira = async () => {
    const jira = await api.post("/integrations", { provider: "JIRA", name: "Tracker" })
    await authorize(api, jira)
    return jira
  }
  const jira = await step("tracker", connectJira, ({ id }) => `${id} is authorized`)

  const connectDrive = async () => {
    const integration = { provider: "GOOGLE_DRIVE", name: "Drive", config: { folderId: driveFolder } }
    const drive = await api.post("/integrations", integration)
    await subscribe(api, drive, "invoice.finalized")
    await authorize(api, drive)
    return drive
  }
  const drive = await step("drive", connectDrive, ({ id }) => `${id} is authorized and subscribed to invoice.finalized`)
  return { webhook, jira, drive }
}

/** Receives an issue from Jira and finalizes an invoice with a line for it. */
const billIssue = async (
  api: Api,
  contract: CreatedResource,
  jira: CreatedResource,
  { timeoutSeconds, fakes, step }: WalkOptions
) => {
  const key = "NORTH-318"
  const receiveIssue = async () => {
    await sendIssue(fakes, key, "Replace the pump controller", timeoutSeconds)
    return waitForIssue(api, jira, key, timeoutSeconds)
  }
  await step("issue", receiveIssue, ({ id }) => `${key} came in as a webhook and is ${id}`)

  const draftInvoice = async () => {
    const invoice = await api.post("/invoices", { contractId: contract.id })
    const issues = { integrationId: jira.id, issueKeys: [key], amountMinor: 12_000, quantity: 1.5 }
    await api.post(`/invoices/${invoice.id}/billables/from-issues`, issues)
    return invoice
  }
  const draft = await step("invoice", draftInvoice, ({ id }) => `${id} has a line for ${key}`)

  return step(
    "finalize",
    () => api.post<CreatedResource & { readonly invoiceNumber: string }>(`/invoices/${draft.id}/finalize`),
    ({ invoiceNumber }) => `its number is ${invoiceNumber}`
  )
}

/** Goes from an empty service to a branded PDF in the drive and a signed webhook. */
export const walk = async (options: WalkOptions) => {
  const { api, contract } = await createContract(options)
  const { drive, jira, webhook } = await connectIntegrations(api, options)
  await billIssue(api, contract, jira, options)
  const { timeoutSeconds, fakes, step } = options
  const file = await step(
    "pdf",
    () => findDriveFile(api, drive, fakes, timeoutSeconds),
    ({ name, bytes }) => `${name} is in the drive, ${bytes.length} bytes`
  )
  const request = await step(
    "webhook",
    () => findWebhook(api, webhook, fakes, timeoutSeconds),
    ({ headers }) => `${headers["webhook-id"]} arrived, and its signature is valid`
  )
  return { file, webhook: request, secret: webhook.secret }
}
