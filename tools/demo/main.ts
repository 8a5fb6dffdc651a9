import { parseArgs } from "node:util"
import type { ContractingClient, Tenant } from "../../dist/client/index.js"
import {
  connect,
  connectionHelp,
  connectionOptions,
  listTenants,
  requireTenant,
  runTool,
  UsageError,
  urlOf
} from "../common/connection.ts"
import { makeStep } from "../walkthrough/steps.ts"
import { ensureClients, ensureOwnData, ensureTenant } from "./contracting.ts"
import { tenant as demoTenant } from "./data.ts"
import { ensureInvoices } from "./invoicing.ts"
import { ensureStream, ensureWebhooks, startReceiver, waitForDeliveries } from "./receiver.ts"
import { countAll, describeTenant } from "./summary.ts"
import { ensureTracker, settingsFor } from "./tracker.ts"

const help = `npm run demo

Fills a tenant of a running service with data, through its API: clients in three countries and currencies, contracts,
projects, invoices in every status, payments, a credit note, issues, and a webhook receiver that fails for some events. It finds by name what an
earlier run has created, so a second run adds nothing.

  --settings              print the settings with which the service allows the receiver and the issues:
                          env $(npm run -s demo -- --settings) npm start
  --receiver-port <port>  where the webhook receiver listens while the demo runs; default 4010
  --jira-port <port>      where the stand-in for Jira listens while the demo runs; default 4011
${connectionHelp.replaceAll(/^( {2}--\S+ <\w+>) */gm, (option) => option.trimEnd().padEnd(26))}; default is "${demoTenant.name}", which it makes`

const print = (line: string) => void process.stdout.write(`${line}\n`)

const readArguments = () => {
  try {
    return parseArgs({
      options: {
        ...connectionOptions,
        settings: { type: "boolean" },
        "receiver-port": { type: "string", default: "4010" },
        "jira-port": { type: "string", default: "4011" }
      }
    }).values
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${help}`)
  }
}

const requirePort = (text: string) => {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new UsageError(`${text} is no port`)
}

const printSettings = (settings: object) =>
  print(
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")
  )

interface Ports {
  readonly receiver: number
  readonly jira: number
}

const howToAllow = "npm run demo -- --help tells how to start the service for it"

/** Makes what is missing, and says so step by step. */
const fillTenant = async (api: ContractingClient, tenant: Tenant, serviceUrl: string, ports: Ports) => {
  const step = makeStep(print)
  const receiver = await startReceiver(ports.receiver)
  try {
    await step(
      "tenant",
      () => ensureOwnData(api, tenant),
      () => `${tenant.name} is ${tenant.id}`
    )
    // Both before the invoices, whose events they get.
    await step(
      "stream",
      () => ensureStream(api),
      ({ id }) => `${id} takes events of invoices`
    )
    const webhooks = await step(
      "webhooks",
      () => ensureWebhooks(api, receiver),
      (found) => found?.id ?? `left out: the service may not send to this machine; ${howToAllow}`
    )
    const contracts = await step(
      "clients",
      () => ensureClients(api),
      () => "with addresses, contacts, contracts and projects"
    )
    const transitions = await step(
      "invoices",
      () => ensureInvoices(api, contracts),
      () => "in every status"
    )
    await step(
      "issues",
      () => ensureTracker(api, { serviceUrl, port: ports.jira, contracts }),
      (isThere) =>
        isThere ? "from webhooks, two of them on an invoice" : `left out: the service has no Jira; ${howToAllow}`
    )
    if (webhooks === undefined || transitions === 0) return
    await step(
      "delivery",
      () => waitForDeliveries(api, webhooks, receiver, transitions),
      (count) => `${count} webhooks; the receiver rejects those of void invoices`
    )
  } finally {
    receiver.stop()
  }
}

const runDemo = async (given: ReturnType<typeof readArguments>) => {
  const serviceUrl = urlOf(given)
  const ports = { receiver: requirePort(given["receiver-port"]), jira: requirePort(given["jira-port"]) }
  const service = connect(given)
  const tenants = await listTenants(service, given)
  const tenant =
    given.tenant === undefined ? await ensureTenant(service, tenants) : requireTenant(tenants, given.tenant)
  const api = service.withTenant(tenant.id)
  const before = await countAll(api)
  await fillTenant(api, tenant, serviceUrl, ports)
  print(`\n${describeTenant(tenant, before, await countAll(api))}`)
  print(
    `\nSee it at ${serviceUrl}/console/${tenant.id}, or at ${serviceUrl}/docs with the header tenant-id: ${tenant.id}`
  )
}

runTool(async () => {
  const given = readArguments()
  if (given.help) return print(help)
  if (given.settings) return printSettings(settingsFor(urlOf(given), requirePort(given["jira-port"])))
  await runDemo(given)
})
