import { assert } from "vitest"
import { type QuotaName, quotaNames, quotas } from "../../src/domain/Quotas.ts"
import { assetsIn } from "./assets.ts"
import { authorizingIn, startWithProviders } from "./authorizing.ts"
import { integrationsIn } from "./integrations.ts"
import { invoicingIn } from "./invoicing.ts"
import { makerIn } from "./resources.ts"

export const kilobyte = 1000

/** Quotas small enough to be filled. */
export const maxima: Readonly<Record<QuotaName, number>> = {
  tenants: 5,
  members: 5,
  integrations: 5,
  subscriptions: 5,
  secrets: 5,
  pendingAuthorizations: 5,
  assets: 20,
  assetBytes: 5 * kilobyte,
  mediaSlots: 5,
  invoiceLines: 5
}

export const settingsOf = (maxima: Readonly<Partial<Record<QuotaName, number>>>) =>
  Object.fromEntries(quotaNames.flatMap((name) => (name in maxima ? [[quotas[name].setting, `${maxima[name]}`]] : [])))

interface ShownLimit {
  readonly name: QuotaName
  readonly description: string
  readonly scope: string
  readonly max: number
  readonly used?: number
}

/** The service with small quotas, and tenants in it, each with an owner of its own. */
export const startWithQuotas = async () => {
  const started = await startWithProviders(settingsOf(maxima))
  const { server, service } = started
  let owners = 0

  const stage = async () => {
    const owner = `owner-${owners++}`
    const tenant = await service.newTenant(owner)
    const call = (method: string, path: string, body?: unknown) =>
      service.api(method, path, { as: owner, tenant, ...(body === undefined ? {} : { body }) })
    /** Every limit as `as` is shown it. */
    const limits = async (as = owner): Promise<ReadonlyArray<ShownLimit>> => {
      const { body, status, text } = await service.api("GET", "/limits", { as, tenant })
      assert.strictEqual(status, 200, text)
      return body.data
    }
    return {
      owner,
      tenant,
      call,
      limits,
      limit: async (name: QuotaName) => (await limits()).find((limit) => limit.name === name) ?? assert.fail(name),
      assets: assetsIn(service, tenant, owner),
      integrations: integrationsIn(service, tenant, owner),
      authorizing: authorizingIn(service, server, tenant, owner),
      invoicing: invoicingIn(service, tenant, owner),
      make: makerIn(service, tenant, owner).make
    }
  }
  return { ...started, stage }
}

export type QuotaStage = Awaited<ReturnType<Awaited<ReturnType<typeof startWithQuotas>>["stage"]>>
