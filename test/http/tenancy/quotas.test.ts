import { assert, describe, it } from "vitest"
import { eventTypes } from "../../../src/domain/events/EventCatalogue.ts"
import { type QuotaName, quotaNames, quotas } from "../../../src/domain/Quotas.ts"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { minimalAsset } from "../../support/fixtures/assets.ts"
import { minimalDrive, minimalJira } from "../../support/fixtures/authorizations.ts"
import { minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { kilobyte, type QuotaStage, smallQuotas, startServiceWithQuotas } from "../../support/fixtures/quotas.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"

/** One quota of somebody, who can add to what it counts and free some of it. */
interface Filling {
  readonly field: string
  /** How much there is at first, and how much one addition is. */
  readonly used?: number
  readonly unit?: number
  /** The `n`-th addition, each of another thing. */
  readonly add: (n: number) => Promise<ServiceResponse>
  /** Frees what one addition made. */
  readonly free: (added: ServiceResponse) => Promise<unknown>
}

describe("quotas", () => {
  const at = useFixture(startServiceWithQuotas)

  const listed = (kind: string, field: string, bodyOf: (n: number) => object) => async (at: QuotaStage) => ({
    field,
    add: (n: number) => at.call("POST", `/${kind}`, bodyOf(n)),
    free: ({ body }: ServiceResponse) => at.call("DELETE", `/${kind}/${body.data.id ?? body.data.assetId}`)
  })

  const rotations = (integration: object, table: string) => async (stage: QuotaStage) => {
    const { id } = await stage.integrations.made(integration)
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

  const slots = (kind: "clients" | "tenants") => async (stage: QuotaStage) => {
    const { assetId } = await stage.assets.ready()
    const id = kind === "tenants" ? stage.tenant : (await stage.make("clients")).id
    return {
      field: "slot",
      add: (n: number) => stage.call("PUT", `/${kind}/${id}/media/slot-${n}`, { assetId }),
      free: ({ body }: ServiceResponse) => stage.call("DELETE", `/${kind}/${id}/media/${body.data.media[0].slot}`)
    }
  }

  const stateOf = ({ body }: ServiceResponse) => new URL(body.data.authorizationUrl).searchParams.get("state") ?? ""

  type Scenario = readonly [name: QuotaName, what: string, fill: (stage: QuotaStage) => Promise<Filling>]

  const scenarios: ReadonlyArray<Scenario> = [
    [
      "tenants",
      "tenants of a caller",
      async (at) => ({ ...(await listed("tenants", "name", () => ({ name: "Tenant" }))(at)), used: 1 })
    ],
    [
      "members",
      "members",
      async (at) => ({
        ...(await listed("members", "subject", (n) => ({ subject: `member-${n}`, role: "VIEWER" }))(at)),
        used: 1
      })
    ],
    ["integrations", "integrations", listed("integrations", "provider", () => minimalNats)],
    [
      "subscriptions",
      "subscriptions of an integration",
      async ({ integrations }) => {
        const { id } = await integrations.made(minimalNats)
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
      "authorizations of an integration that nobody came back from",
      async ({ authorizing, owner }) => {
        const { id } = await authorizing.made(minimalDrive)
        return {
          field: "integrationId",
          add: () => authorizing.begin(id),
          free: (begun) => authorizing.callback({ state: stateOf(begun), error: "access_denied" }, owner)
        }
      }
    ],
    ["assets", "assets", listed("assets", "kind", () => minimalAsset)],
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

  it("are all walked over here", () => {
    assert.sameMembers([...new Set(scenarios.map(([name]) => name))], [...quotaNames])
  })

  for (const [name, what, fill] of scenarios) {
    it(`bound ${what}, by exactly the maximum when many are added at once, until one is freed`, async () => {
      const scene = await at().stage()
      const { add, field, free, unit = 1, used = 0 } = await fill(scene)
      const max = smallQuotas[name]
      const fault = quotaError(name, max, field)
      const room = max / unit - used
      const answers = await Promise.all(Array.from({ length: max / unit + 15 }, (_, n) => add(n)))
      const [added, refused] = [
        answers.filter(({ status }) => status < 300),
        answers.filter(({ status }) => status >= 300)
      ]
      assert.strictEqual(added.length, room, refused[0]?.text)
      for (const answer of refused) assertValidationError(answer, fault)

      const shown = () => scene.limit(name)
      const { scope } = quotas[name]
      const isCounted = scope === "tenant" || scope === "caller"
      assert.deepInclude(await shown(), { name, scope, max, ...(isCounted ? { used: max } : {}) })
      assert.strictEqual("used" in (await shown()), isCounted)

      await free(added[0] ?? assert.fail())
      if (isCounted) assert.strictEqual((await shown()).used, max - unit)
      // Another asset than the deleted one is needed for bytes: the last that was refused.
      const again = await add(answers.findLastIndex(({ status }) => status >= 300))
      assert.isBelow(again.status, 300, again.text)
      assertValidationError(await add(answers.findIndex(({ status }) => status >= 300)), fault)
    })
  }
})
