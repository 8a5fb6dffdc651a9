import { assert, describe, it } from "vitest"
import { assetClient, minimalAsset } from "../../support/fixtures/assets.ts"
import { gif, png } from "../../support/fixtures/images.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

interface Recorded {
  readonly type: string
  readonly sequence: number
  readonly tenant: string
  readonly client: string | null
  readonly data: string
}

const shownBy = ({ text }: ServiceResponse) => text.slice('{"data":'.length, -1)

/** What an answer shows, but for the address that opens to whoever has it. */
const withoutUrl = (answer: ServiceResponse) => {
  const { url, ...asset } = answer.body.data
  return JSON.stringify(asset)
}

describe("events of assets", () => {
  const at = useFixture(startServiceWithTenant)
  const assets = () => assetClient(at().service, at().tenant)

  const eventsOf = async (id: string) => {
    const { rows } = await at().pool.query<Recorded>(
      `select type, sequence, tenant_id as tenant, client_id as client, data::text as data
       from events where resource_id = $1 order by sequence`,
      [id]
    )
    return rows
  }

  for (const [access, shown] of [
    ["PUBLIC", shownBy],
    ["SIGNED", withoutUrl]
  ] as const) {
    it(`tell of a ${access} asset what the API showed of it, from its declaration to its end`, async () => {
      const created = await assets().call("POST", "", { ...minimalAsset, access, originalFileName: "logo.png" })
      const { assetId } = created.body.data
      const wrong = await assets().put(assetId, gif)
      assert.strictEqual((await assets().complete(assetId)).status, 400)
      const failed = await assets().record(assetId)
      const right = await assets().put(assetId, png())
      const ready = await assets().complete(assetId)
      const renamed = await assets().patch(assetId, { originalFileName: null })
      assert.strictEqual((await assets().remove(assetId)).status, 204)

      const told: ReadonlyArray<readonly [string, ServiceResponse]> = [
        ["created", created],
        ["updated", wrong],
        ["failed", failed],
        ["updated", right],
        ["ready", ready],
        ["updated", renamed],
        ["deleted", renamed]
      ]
      assert.deepStrictEqual(
        await eventsOf(assetId),
        told.map(([action, answer], n) => ({
          type: `asset.${action}`,
          sequence: n + 1,
          tenant: at().tenant,
          client: null,
          data: shown(answer)
        }))
      )
    })
  }

  it("hold no address that opens to whoever has it", async () => {
    const { assetId } = await assets().ready({ access: "SIGNED" })
    await assets().patch(assetId, { access: "PUBLIC" })
    await assets().patch(assetId, { access: "SIGNED" })
    const urls = (await eventsOf(assetId)).map(({ data }) => JSON.parse(data).url)
    assert.deepStrictEqual(urls, [undefined, undefined, undefined, `/api/v1/assets/${assetId}`, undefined])
    const { rows } = await at().pool.query("select 1 from events where strpos(data::text, 'signature') > 0")
    assert.deepStrictEqual(rows, [])
  })

  it("tell nothing of what was refused or changed nothing", async () => {
    const { assetId } = await assets().ready()
    const { assetId: pending } = await assets().declare()
    const before = [await eventsOf(assetId), await eventsOf(pending)]
    const stale = { "if-match": '"stale"' }
    const refused: ReadonlyArray<readonly [number, ServiceResponse]> = [
      [200, await assets().complete(assetId)],
      [400, await assets().put(assetId, png())],
      [400, await assets().patch(assetId, { access: "OPEN" })],
      [412, await assets().patch(assetId, { access: "SIGNED" }, stale)],
      [412, await assets().remove(assetId, stale)],
      [400, await assets().complete(pending)],
      [412, await assets().put(pending, png(), stale)],
      [413, await assets().put(pending, Buffer.alloc(5 * 1024 * 1024 + 1))]
    ]
    for (const [status, answer] of refused) assert.strictEqual(answer.status, status, answer.text)
    assert.deepStrictEqual([await eventsOf(assetId), await eventsOf(pending)], before)
  })
})
