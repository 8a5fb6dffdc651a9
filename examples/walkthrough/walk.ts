import { type Api, apiAt, type Made } from "./api.ts"
import { arriveAtReceiver, arriveInDrive } from "./arrival.ts"
import { authorize, subscribe } from "./integrations.ts"
import { tellOfIssue, tracked } from "./issues.ts"
import { drawLogo } from "./logo.ts"
import { driveFolder, type StandIns } from "./standIns.ts"
import type { Step } from "./steps.ts"

interface Way {
  readonly url: string
  readonly token: string
  readonly standIns: StandIns
  readonly step: Step
  /** How long anything may take that the service does by itself. */
  readonly seconds: number
}

/** A tenant with a logo, a client, and a contract with that client. */
const begin = async ({ step, token, url }: Way) => {
  const tenant = await step(
    "tenant",
    () => apiAt(url, token).post("/tenants", { name: "Harbour Works" }),
    ({ id }) => `Harbour Works is ${id}`
  )
  const api = apiAt(url, token, tenant.id)

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

/** A receiver of webhooks, a tracker and a drive, the latter two with the consent of somebody who uses them. */
const connect = async (api: Api, { standIns: { receiver }, step }: Way) => {
  const connectReceiver = async () => {
    const integration = { provider: "WEBHOOK", name: "Books", config: { url: receiver.url } }
    const hook = await api.post<Made & { readonly secret: string }>("/integrations", integration)
    await subscribe(api, hook, "invoice.finalized")
    return hook
  }
  const hook = await step("receiver", connectReceiver, ({ id }) => `${id} is told of invoice.finalized`)

  const connectTracker = async () => {
    const tracker = await api.post("/integrations", { provider: "JIRA", name: "Tracker" })
    await authorize(api, tracker)
    return tracker
  }
  const tracker = await step("tracker", connectTracker, ({ id }) => `${id} is authorized`)

  const connectDrive = async () => {
    const integration = { provider: "GOOGLE_DRIVE", name: "Drive", config: { folderId: driveFolder } }
    const drive = await api.post("/integrations", integration)
    await subscribe(api, drive, "invoice.finalized")
    await authorize(api, drive)
    return drive
  }
  const drive = await step("drive", connectDrive, ({ id }) => `${id} is authorized, and told of invoice.finalized`)
  return { hook, tracker, drive }
}

/** An issue from the tracker's webhook to a line of an invoice that is final. */
const bill = async (api: Api, contract: Made, tracker: Made, { seconds, standIns, step }: Way) => {
  const key = "NORTH-318"
  const hearOfIssue = async () => {
    await tellOfIssue(standIns, key, "Replace the pump controller", seconds)
    return tracked(api, tracker, key, seconds)
  }
  await step("issue", hearOfIssue, ({ id }) => `${key} came in as a webhook and is ${id}`)

  const draftInvoice = async () => {
    const invoice = await api.post("/invoices", { contractId: contract.id })
    const issues = { integrationId: tracker.id, issueKeys: [key], amountMinor: 12_000, quantity: 1.5 }
    await api.post(`/invoices/${invoice.id}/billables/from-issues`, issues)
    return invoice
  }
  const draft = await step("invoice", draftInvoice, ({ id }) => `${id} has a line for ${key}`)

  return step(
    "finalize",
    () => api.post<Made & { readonly invoiceNumber: string }>(`/invoices/${draft.id}/finalize`),
    ({ invoiceNumber }) => `its number is ${invoiceNumber}`
  )
}

/** From nothing to a branded PDF in a drive and a signed webhook at a receiver; tells what arrived. */
export const walk = async (way: Way) => {
  const { api, contract } = await begin(way)
  const { drive, hook, tracker } = await connect(api, way)
  await bill(api, contract, tracker, way)
  const { seconds, standIns, step } = way
  const file = await step(
    "pdf",
    () => arriveInDrive(api, drive, standIns, seconds),
    ({ name, bytes }) => `${name} lies in the drive, ${bytes.length} bytes`
  )
  const webhook = await step(
    "webhook",
    () => arriveAtReceiver(api, hook, standIns, seconds),
    ({ headers }) => `${headers["webhook-id"]} arrived, and its signature is right`
  )
  return { file, webhook, secret: hook.secret }
}
