import type pg from "pg"
import { invoicingIn } from "./invoicing.ts"
import type { Service } from "./service.ts"
import { startWithPool } from "./staging.ts"
import { assertAccepted, keyOf, trackerOf, trackerSettings } from "./tracker.ts"
import { authorize } from "./trackerRows.ts"
import { type Told, webhookOf } from "./trackerWebhook.ts"
import { eventually, startWorker } from "./workers.ts"

/** The service with an intake beside it. */
export const startWithIntake = async () => {
  const started = await startWithPool(trackerSettings)
  const worker = await startWorker(started.service, "intake")
  const stop = async () => {
    await worker.stop()
    await started.stop()
  }
  return { ...started, stop }
}

/** A tenant whose trackers have told of an issue, ABC-1, which can be billed. */
export const issueWorld = async (service: Service, pool: pg.Pool) => {
  const tenant = await service.newTenant()
  const invoicing = invoicingIn(service, tenant)
  const connected = async (siteId: string) => {
    const { body } = await invoicing.call("POST", "/integrations", {
      provider: "JIRA",
      name: "J",
      config: { siteId }
    })
    const { id, webhookUrl } = body.data
    await authorize(pool, id, 1007)
    const tell = async (kind: "created" | "updated", told: Told) => {
      assertAccepted(await trackerOf(service).send(keyOf(webhookUrl), webhookOf(kind, told)))
      await eventually(async () => {
        const { rows } = await pool.query("select 1 from inbound_webhooks where status = 'RECEIVED'")
        return rows.length === 0
      }, "it is worked")
    }
    await tell("created", { key: "ABC-1", title: `Of ${siteId}`, timestamp: 1 })
    return { id: String(id), tell }
  }
  const bill = (invoice: string, integrationId: string, choice: object = { issueKeys: ["ABC-1"] }) =>
    invoicing.call("POST", `/invoices/${invoice}/billables/from-issues`, { integrationId, amountMinor: 5, ...choice })
  return { invoicing, connected, bill, draft: async () => (await invoicing.draft()).id }
}
