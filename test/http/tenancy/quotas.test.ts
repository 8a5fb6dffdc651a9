import { Redacted } from "effect"
import { assert, describe, it, onTestFinished } from "vitest"
import { eventTypes } from "../../../src/domain/events/Catalogue.ts"
import { type QuotaName, quotaNames, quotas } from "../../../src/domain/Quotas.ts"
import { assetsIn, leastAsset } from "../../support/assets.ts"
import { authorizingIn, leastDrive, leastJira, startWithProviders } from "../../support/authorizing.ts"
import { assertInvalid, quotaFault } from "../../support/failure.ts"
import { forAll } from "../../support/forAll.ts"
import { png } from "../../support/images.ts"
import { integrationsIn, leastNats, leastWebhook } from "../../support/integrations.ts"
import { invoicingIn, lineOf } from "../../support/invoicing.ts"
import { makerIn } from "../../support/resources.ts"
import { type Answered, startService } from "../../support/service.ts"

const kilobyte = 1000

const maxima: Readonly<Record<QuotaName, number>> = {
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

const settingsOf = (maxima: Readonly<Partial<Record<QuotaName, number>>>) =>
  Object.fromEntries(quotaNames.flatMap((name) => (name in maxima ? [[quotas[name].setting, `${maxima[name]}`]] : [])))

/** One quota of somebody, who can add to what it counts and free some of it. */
interface Filling {
  readonly tenant: string
  readonly owner: string
  readonly field: string
  /** How much there is at first, and how much one addition is. */
  readonly used?: number
  readonly unit?: number
  /** The `n`-th addition, each of another thing. */
  readonly add: (n: number) => Promise<Answered>
  /** Frees what one addition made. */
  readonly free: (added: Answered) => Promise<unknown>
}

describe("quotas", () => {
  const at = forAll(() => startWithProviders(settingsOf(maxima)))
  let owners = 0

  /** A tenant of its own, with whatever can be done in it as its owner. */
  const stage = async () => {
    const { server, service } = at()
    const owner = `owner-${owners++}`
    const tenant = await service.newTenant(owner)
    const call = (method: string, path: string, body?: unknown) =>
      service.api(method, path, { as: owner, tenant, ...(body === undefined ? {} : { body }) })
    return {
      owner,
      tenant,
      call,
      assets: assetsIn(service, tenant, owner),
      integrations: integrationsIn(service, tenant, owner),
      authorizing: authorizingIn(service, server, tenant, owner),
      invoicing: invoicingIn(service, tenant, owner),
      made: makerIn(service, tenant, owner)
    }
  }
  type Stage = Awaited<ReturnType<typeof stage>>

  const listed = (kind: string, field: string, bodyOf: (n: number) => object) => async (at: Stage) => ({
    field,
    add: (n: number) => at.call("POST", `/${kind}`, bodyOf(n)),
    free: ({ body }: Answered) => at.call("DELETE", `/${kind}/${body.data.id ?? body.data.assetId}`)
  })

  const rotations = (integration: object, table: string) => async (stage: Stage) => {
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

  const slots = (kind: "clients" | "tenants") => async (stage: Stage) => {
    const { assetId } = await stage.assets.ready()
    const id = kind === "tenants" ? stage.tenant : (await stage.made.make("clients")).id
    return {
      field: "slot",
      add: (n: number) => stage.call("PUT", `/${kind}/${id}/media/slot-${n}`, { assetId }),
      free: ({ body }: Answered) => stage.call("DELETE", `/${kind}/${id}/media/${body.data.media[0].slot}`)
    }
  }

  const stateOf = ({ body }: Answered) => new URL(body.data.authorizationUrl).searchParams.get("state") ?? ""

  type Scenario = readonly [
    name: QuotaName,
    what: string,
    fill: (stage: Stage) => Promise<Omit<Filling, "tenant" | "owner">>
  ]

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
    ["integrations", "integrations", listed("integrations", "provider", () => leastNats)],
    [
      "subscriptions",
      "subscriptions of an integration",
      async ({ integrations }) => {
        const { id } = await integrations.made(leastNats)
        return {
          field: "eventType",
          add: (n) => integrations.subscribe(id, { eventType: eventTypes[n]?.type }),
          free: ({ body }) => integrations.unsubscribe(id, body.data.id)
        }
      }
    ],
    ["secrets", "signing secrets of an integration", rotations(leastWebhook, "integration_secrets")],
    ["secrets", "webhook addresses of an integration", rotations(leastJira, "webhook_endpoints")],
    [
      "pendingAuthorizations",
      "authorizations of an integration that nobody came back from",
      async ({ authorizing, owner }) => {
        const { id } = await authorizing.made(leastDrive)
        return {
          field: "integrationId",
          add: () => authorizing.begin(id),
          free: (begun) => authorizing.callback({ state: stateOf(begun), error: "access_denied" }, owner)
        }
      }
    ],
    ["assets", "assets", listed("assets", "kind", () => leastAsset)],
    [
      "assetBytes",
      "bytes of images",
      async ({ assets }) => {
        const ids: Array<string> = []
        for (let n = 0; n < maxima.assets; n++) ids.push((await assets.declare()).assetId)
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

  const shownIn = async ({ owner, tenant }: Pick<Filling, "owner" | "tenant">) => {
    const { body, status, text } = await at().service.api("GET", "/limits", { as: owner, tenant })
    assert.strictEqual(status, 200, text)
    return body.data
  }

  it("are all walked over here", () => {
    assert.sameMembers([...new Set(scenarios.map(([name]) => name))], [...quotaNames])
  })

  for (const [name, what, fill] of scenarios) {
    it(`bound ${what}, by exactly the maximum when many are added at once, until one is freed`, async () => {
      const scene = await stage()
      const { add, field, free, unit = 1, used = 0 } = await fill(scene)
      const max = maxima[name]
      const fault = quotaFault(name, max, field)
      const room = max / unit - used
      const answers = await Promise.all(Array.from({ length: max / unit + 15 }, (_, n) => add(n)))
      const [added, refused] = [
        answers.filter(({ status }) => status < 300),
        answers.filter(({ status }) => status >= 300)
      ]
      assert.strictEqual(added.length, room, refused[0]?.text)
      for (const answer of refused) assertInvalid(answer, fault)

      const shown = async () => (await shownIn(scene)).find((limit: { name: string }) => limit.name === name)
      const { scope } = quotas[name]
      const isCounted = scope === "tenant" || scope === "caller"
      assert.deepInclude(await shown(), { name, scope, max, ...(isCounted ? { used: max } : {}) })
      assert.strictEqual("used" in (await shown()), isCounted)

      await free(added[0] ?? assert.fail())
      if (isCounted) assert.strictEqual((await shown()).used, max - unit)
      // Another asset than the deleted one is needed for bytes: the last that was refused.
      const again = await add(answers.findLastIndex(({ status }) => status >= 300))
      assert.isBelow(again.status, 300, again.text)
      assertInvalid(await add(answers.findIndex(({ status }) => status >= 300)), fault)
    })
  }

  it("list every maximum with its description, the caller's tenants as his own", async () => {
    const { call, owner, tenant } = await stage()
    await call("POST", "/members", { subject: "viewer", role: "VIEWER" })
    const limits = await shownIn({ owner, tenant })
    assert.deepStrictEqual(
      limits.map(({ max, name }: { max: number; name: QuotaName }) => [name, max]),
      quotaNames.map((name) => [name, maxima[name]])
    )
    for (const { description } of limits) assert.match(description, /^maximum number of \w+/)
    const usedBy = async (owner: string) =>
      Object.fromEntries(
        (await shownIn({ owner, tenant })).flatMap(({ name, used }: { name: string; used?: number }) =>
          used === undefined ? [] : [[name, used]]
        )
      )
    const used = { tenants: 1, members: 2, integrations: 0, assets: 0, assetBytes: 0 }
    assert.deepStrictEqual(await usedBy(owner), used)
    assert.deepStrictEqual(await usedBy("viewer"), { ...used, tenants: 0 })
  })

  it("count grants that wait for a confirmation among the authorizations of an integration", async () => {
    const { authorizing } = await stage()
    const { id } = await authorizing.made(leastDrive)
    const fault = quotaFault("pendingAuthorizations", maxima.pendingAuthorizations, "integrationId")
    const confirmation = await authorizing.waiting(id)
    for (let n = 1; n < maxima.pendingAuthorizations; n++) await authorizing.begun(id)
    assertInvalid(await authorizing.begin(id), fault)
    assert.strictEqual((await authorizing.confirm(id, confirmation)).status, 200)
    await authorizing.begun(id)
    assertInvalid(await authorizing.begin(id), fault)
  })

  it("let a full integration rotate without an overlap", async () => {
    const { integrations } = await stage()
    const { id } = await integrations.made(leastWebhook)
    for (let n = 1; n < maxima.secrets; n++) await integrations.rotate(id)
    assertInvalid(await integrations.rotate(id), quotaFault("secrets", maxima.secrets, "overlapHours"))
    assert.strictEqual((await integrations.rotate(id, { overlapHours: 0 })).status, 200)
  })

  it("count equal bytes once, and those of an issued invoice when its asset is gone", async () => {
    const { assets, call, invoicing, owner, tenant } = await stage()
    const bytesUsed = async () =>
      (await shownIn({ owner, tenant })).find(({ name }: { name: string }) => name === "assetBytes").used
    const [one, other] = [await assets.ready({}, png()), await assets.ready({}, png())]
    assert.strictEqual(await bytesUsed(), png().length)
    await assets.remove(other.assetId)
    assert.strictEqual(await bytesUsed(), png().length)
    await call("PUT", `/tenants/${tenant}/media/logo`, { assetId: one.assetId })
    const { id } = await invoicing.draft()
    await invoicing.add(id, {})
    assert.strictEqual((await call("POST", `/invoices/${id}/finalize`)).status, 200)
    await call("DELETE", `/tenants/${tenant}/media/logo`)
    assert.strictEqual((await assets.remove(one.assetId)).status, 204)
    assert.strictEqual(await bytesUsed(), png().length)
  })

  it("that are lowered below what there is stop growth and nothing else", async () => {
    const { assets, call, integrations, invoicing, owner, tenant } = await stage()
    const client = await makerIn(at().service, tenant, owner).make("clients")
    const { id: invoice } = await invoicing.draft()
    const [line] = await invoicing.add(invoice, {}, {}, {})
    const { id: integration } = await integrations.made(leastNats)
    for (const eventType of ["client.*", "invoice.*", "asset.*"])
      await integrations.madeSubscription(integration, { eventType })
    const [image] = [await assets.ready(), await assets.ready()]
    for (const slot of ["a", "b", "c"]) {
      await call("PUT", `/clients/${client.id}/media/${slot}`, { assetId: image.assetId })
    }
    const upload = (await assets.uploaded(Buffer.alloc(kilobyte, 1))).assetId

    const lowest = settingsOf(Object.fromEntries(quotaNames.map((name) => [name, 1])))
    const lowered = await startService({
      DATABASE_URL: at().service.settings.DATABASE_URL?.pipe(Redacted.value) ?? "",
      ...lowest
    })
    onTestFinished(lowered.stop)
    const ask = (method: string, path: string, body?: unknown) =>
      lowered.api(method, path, { as: owner, tenant, ...(body === undefined ? {} : { body }) })
    const passes = async (...request: Parameters<typeof ask>) => {
      const { status, text } = await ask(...request)
      assert.isBelow(status, 300, text)
    }
    assertInvalid(
      await ask("POST", "/billables", { invoiceId: invoice, billables: [lineOf()] }),
      quotaFault("invoiceLines", 1, "billables")
    )
    await passes("PATCH", `/billables/${line?.id}`, { amountMinor: 5 })
    await passes("DELETE", `/billables/${line?.id}`)
    assertInvalid(
      await ask("PUT", `/clients/${client.id}/media/d`, { assetId: image.assetId }),
      quotaFault("mediaSlots", 1, "slot")
    )
    await passes("PUT", `/clients/${client.id}/media/a`, { assetId: image.assetId, order: 2 })
    await passes("PATCH", `/clients/${client.id}`, { name: "Renamed" })
    await passes("DELETE", `/clients/${client.id}/media/b`)
    assertInvalid(
      await ask("PUT", `/assets/${upload}/content`, Buffer.alloc(kilobyte + 1)),
      quotaFault("assetBytes", 1, "body")
    )
    await passes("PUT", `/assets/${upload}/content`, Buffer.alloc(kilobyte, 2))
    await passes("POST", `/integrations/${integration}/pause`)
    await passes("DELETE", `/integrations/${integration}`)
    await passes("POST", "/integrations", leastNats)
    assertInvalid(await ask("POST", "/integrations", leastNats), quotaFault("integrations", 1, "provider"))
  })
})
