import { assert, describe, it } from "vitest"
import { eventTypes } from "../../../src/domain/events/EventCatalogue.ts"
import { type QuotaName, quotaNames, quotas } from "../../../src/domain/quotas/Quotas.ts"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { minimalAsset } from "../../support/fixtures/assets.ts"
import { minimalDrive, minimalJira } from "../../support/fixtures/authorizations.ts"
import { minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { kilobyte, type QuotaTenant, smallQuotas, startServiceWithQuotas } from "../../support/fixtures/quotas.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"

/** Additions to one quota. */
interface QuotaUsage {
  readonly field: string
  /** The initial use, and the size of one addition. */
  readonly used?: number
  readonly unit?: number
  /** The `n`-th addition. */
  readonly add: (n: number) => Promise<ServiceResponse>
  /** Deletes what one addition created. */
  readonly free: (added: ServiceResponse) => Promise<unknown>
}

describe("Quotas", () => {
  const at = useFixture(startServiceWithQuotas)

  const collectionOf = (kind: string, field: string, bodyOf: (n: number) => object) => async (at: QuotaTenant) => ({
    field,
    add: (n: number) => at.call("POST", `/${kind}`, bodyOf(n)),
    free: ({ body }: ServiceResponse) => at.call("DELETE", `/${kind}/${body.data.id ?? body.data.assetId}`)
  })

  const rotations = (integration: object, table: string) => async (stage: QuotaTenant) => {
    const { id } = await stage.integrations.mustCreate(integration)
    return {
      field: "overlapHours",
      used: 1,
      add: () => stage.integrations.rotate(id, { overlapHours: 1 }),
      free: () =>
        at().pool.query(
          `update ${table} set expires_at = now() where ctid = (
             select ctid from ${table} where integration_id = $1 and expires_at > now() limit 1)`,
          [id]
        )
    }
  }

  const slots = (kind: "clients" | "tenants") => async (stage: QuotaTenant) => {
    const { assetId } = await stage.assets.createReady()
    const id = kind === "tenants" ? stage.tenant : (await stage.make("clients")).id
    return {
      field: "slot",
      add: (n: number) => stage.call("PUT", `/${kind}/${id}/media/slot-${n}`, { assetId }),
      free: ({ body }: ServiceResponse) => stage.call("DELETE", `/${kind}/${id}/media/${body.data.media[0].slot}`)
    }
  }

  const oauthStateOf = ({ body }: ServiceResponse) =>
    new URL(body.data.authorizationUrl).searchParams.get("state") ?? ""

  type Scenario = readonly [name: QuotaName, what: string, prepare: (stage: QuotaTenant) => Promise<QuotaUsage>]

  const scenarios: ReadonlyArray<Scenario> = [
    [
      "tenants",
      "tenants of a caller",
      async (at) => ({ ...(await collectionOf("tenants", "name", () => ({ name: "Tenant" }))(at)), used: 1 })
    ],
    [
      "members",
      "members",
      async (at) => ({
        ...(await collectionOf("members", "subject", (n) => ({ subject: `member-${n}`, role: "VIEWER" }))(at)),
        used: 1
      })
    ],
    ["integrations", "integrations", collectionOf("integrations", "provider", () => minimalNats)],
    [
      "subscriptions",
      "subscriptions of an integration",
      async ({ integrations }) => {
        const { id } = await integrations.mustCreate(minimalNats)
        return {
          field: "eventType",
          add: (n) => integrations.subscribe(id, { eventType: eventTypes[n]?.type }),
          free: ({ body }) => integrations.unsubscribe(id, body.data.id)
        }
      }
    ],
    ["secrets", "signing secrets of an integration", rotations(minimalWebhook, "integration_secrets")],
    ["secrets", "webhook addresses of an integration", rotations(minimalJira, "webhook_endpoints")],
    [
      "pendingAuthorizations",
      "pending authorizations of an integration",
      async ({ authorizing, owner }) => {
        const { id } = await authorizing.mustCreate(minimalDrive)
        return {
          field: "integrationId",
          add: () => authorizing.begin(id),
          free: (begun) => authorizing.callback({ state: oauthStateOf(begun), error: "access_denied" }, owner)
        }
      }
    ],
    ["assets", "assets", collectionOf("assets", "kind", () => minimalAsset)],
    [
      "assetBytes",
      "bytes of images",
      async ({ assets }) => {
        const ids: Array<string> = []
        for (let n = 0; n < smallQuotas.assets; n++) ids.push((await assets.declare()).assetId)
        return {
          field: "body",
          unit: kilobyte,
          add: (n) => assets.put(ids[n % ids.length] ?? "", Buffer.alloc(kilobyte, n)),
          free: ({ body }) => assets.remove(body.data.assetId)
        }
      }
    ],
    ["mediaSlots", "images attached to a client", slots("clients")],
    ["mediaSlots", "images attached to a tenant", slots("tenants")],
    [
      "taxRates",
      "tax rates",
      async ({ call }) => ({
        field: "name",
        add: (n) => call("POST", "/tax-rates", { name: `Tax ${n}`, percent: 1 }),
        // No request deletes a tax rate.
        free: ({ body }) => at().pool.query("delete from tax_rates where id = $1", [body.data.id])
      })
    ],
    [
      "invoiceLines",
      "lines of an invoice",
      async ({ call, invoicing }) => {
        const { id } = await invoicing.draft()
        return {
          field: "billables",
          add: () => invoicing.tryAdd(id, {}),
          free: ({ body }) => call("DELETE", `/billables/${body.data[0].id}`)
        }
      }
    ]
  ]

  // They limit each other: mailQuotas.test.ts.
  const quotasOfMails: ReadonlyArray<QuotaName> = ["tenantMails", "callerMails"]

  it("all have a scenario in this test, except those of mails", () => {
    assert.sameMembers([...new Set(scenarios.map(([name]) => name)), ...quotasOfMails], [...quotaNames])
  })

  for (const [name, what, prepare] of scenarios) {
    it(`limit ${what} to exactly the maximum under concurrent additions, until one is deleted`, async () => {
      const tenant = await at().createQuotaTenant()
      const { add: addOnce, field, free, unit = 1, used = 0 } = await prepare(tenant)
      /** Additions wait for each other, and PostgreSQL ends a wait of two seconds: a busy host makes some repeat theirs. */
      const add = async (n: number) => {
        let response = await addOnce(n)
        for (let tries = 1; response.status === 503 && tries < 5; tries++) response = await addOnce(n)
        return response
      }
      const max = smallQuotas[name]
      const error = quotaError(name, max, field)
      const expected = max / unit - used
      const responses = await Promise.all(Array.from({ length: max / unit + 15 }, (_, n) => add(n)))
      const [added, rejected] = [
        responses.filter(({ status }) => status < 300),
        responses.filter(({ status }) => status >= 300)
      ]
      assert.strictEqual(added.length, expected, rejected[0]?.text)
      for (const response of rejected) assertValidationError(response, error)

      const readLimit = () => tenant.limit(name)
      const { scope } = quotas[name]
      const isCounted = scope === "tenant" || scope === "caller"
      assert.deepInclude(await readLimit(), { name, scope, max, ...(isCounted ? { used: max } : {}) })
      assert.strictEqual("used" in (await readLimit()), isCounted)

      await free(added[0] ?? assert.fail())
      if (isCounted) assert.strictEqual((await readLimit()).used, max - unit)
      // The asset of the first addition is deleted, so the bytes go to the last rejected one.
      const again = await add(responses.findLastIndex(({ status }) => status >= 300))
      assert.isBelow(again.status, 300, again.text)
      assertValidationError(await add(responses.findIndex(({ status }) => status >= 300)), error)
    })
  }
})
