import { type Api, type CreatedResource, connectApi } from "./api.ts"
import { findDriveFile, findWebhook } from "./deliveries.ts"
import { driveFolder, type FakeServers } from "./fakeServers.ts"
import { authorize, subscribe } from "./integrations.ts"
import { sendIssue, waitForIssue } from "./issues.ts"
import { drawLogo } from "./logo.ts"
import { findMail, openPage } from "./mails.ts"
import type { Step } from "./steps.ts"

interface WalkOptions {
  readonly url: string
  readonly token: string
  readonly fakes: FakeServers
  readonly step: Step
  /** The timeout of everything that the service does in the background. */
  readonly timeoutSeconds: number
}

interface IssuedInvoice extends CreatedResource {
  readonly invoiceNumber: string
  readonly totalMinor: number
}

const recipient = "accounts@northwind.example"

/** For both parties, to keep the walkthrough short. */
const address = {
  name: "Head office",
  address1: "Am Hafen 12",
  zip: "20457",
  city: "Hamburg",
  country: "Germany",
  countryCode: "DE"
}

/** Creates a tenant with what its invoices need: an account, an address, a tax and a logo. */
const createTenant = async ({ step, token, url }: WalkOptions) => {
  const bankAccount = { name: "Harbour Works GmbH", iban: "DE89370400440532013000" }
  const tenant = await step(
    "tenant",
    () => connectApi(url, token).post("/tenants", { name: "Harbour Works", bankAccount }),
    ({ id }) => `Harbour Works is ${id}`
  )
  const api = connectApi(url, token, tenant.id)

  const addTax = async () => {
    await api.post("/addresses", { ...address, vatNumber: "DE123456789" })
    const rate = await api.post("/tax-rates", { name: "VAT", percent: 19, category: "S" })
    await api.patch(`/tenants/${tenant.id}`, { defaultTaxRateIds: [rate.id] })
    return rate
  }
  await step("tax", addTax, ({ id }) => `${id} is 19 % on every line from now on`)

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
  return api
}

/** Creates a client with a contact who receives its invoices, and a contract. */
const createContract = async (api: Api, { step }: WalkOptions) => {
  const createClient = async () => {
    const created = await api.post("/clients", { name: "Northwind" })
    await api.post("/addresses", { ...address, clientId: created.id })
    const contact = await api.post("/contacts", { clientId: created.id, name: "Accounts", receivesInvoices: true })
    await api.post("/emails", { contactId: contact.id, address: recipient })
    return created
  }
  const client = await step(
    "client",
    createClient,
    ({ id }) => `Northwind is ${id}, and ${recipient} gets its invoices`
  )
  const terms = { clientId: client.id, name: "Maintenance", currencyCode: "EUR", status: "ACTIVE" }
  const contract = await step(
    "contract",
    () => api.post("/contracts", terms),
    ({ id }) => `Maintenance in EUR is ${id}`
  )
  return { client, contract }
}

/** Creates and authorizes the integrations: a webhook receiver, Jira, Google Drive and a mail server. */
const connectIntegrations = async (api: Api, { fakes: { mail, receiver }, step }: WalkOptions) => {
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

  const config = { host: "127.0.0.1", port: mail.port, security: "STARTTLS", from: "billing@harbour-works.example" }
  await step(
    "mailer",
    () => api.post("/integrations", { provider: "EMAIL", name: "Mail", config }),
    ({ id }) => `${id} sends from ${config.from}`
  )
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
    () => api.post<IssuedInvoice>(`/invoices/${draft.id}/finalize`),
    ({ invoiceNumber, totalMinor }) =>
      `its number is ${invoiceNumber}, its total with tax ${(totalMinor / 100).toFixed(2)} EUR`
  )
}

/** Mails the invoice with its hybrid PDF, opens the page that the mail links to, and records the payment. */
const collectPayment = async (
  api: Api,
  client: CreatedResource,
  invoice: IssuedInvoice,
  { fakes, step, timeoutSeconds }: WalkOptions
) => {
  const sendMail = async () => {
    await api.post(`/invoices/${invoice.id}/send`, {})
    return findMail(fakes, recipient, timeoutSeconds)
  }
  const mail = await step(
    "mail",
    sendMail,
    ({ pdf, xmlName }) => `${recipient} got ${pdf.name} with ${xmlName} for its bookkeeping`
  )
  await step(
    "page",
    () => openPage(mail.link, "Open"),
    (text) => `the link in the mail says ${text}`
  )

  const pay = async () => {
    const { id: invoiceId, totalMinor: amountMinor } = invoice
    const allocations = [{ invoiceId, amountMinor }]
    await api.post("/payments", { clientId: client.id, currencyCode: "EUR", amountMinor, allocations })
    return openPage(mail.link, "Paid")
  }
  await step("payment", pay, (text) => `now it says ${text}`)
  return mail
}

/** Goes from an empty service to a paid invoice: a branded PDF in the drive, a signed webhook, a mail and a page. */
export const walk = async (options: WalkOptions) => {
  const api = await createTenant(options)
  const { client, contract } = await createContract(api, options)
  const { drive, jira, webhook } = await connectIntegrations(api, options)
  const invoice = await billIssue(api, contract, jira, options)
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
  await collectPayment(api, client, invoice, options)
  return { file, webhook: request, secret: webhook.secret }
}
