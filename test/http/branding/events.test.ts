import { assert, describe, it } from "vitest"
import { assetClient, minimalAsset } from "../../support/fixtures/assets.ts"
import { gif, png } from "../../support/fixtures/images.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

interface EventRow {
  readonly type: string
  readonly sequence: number
  readonly tenant: string
  readonly client: string | null
  readonly data: string
}

const dataOf = ({ text }: ServiceResponse) => text.slice('{"data":'.length, -1)

/** The asset of a response without its signed URL. */
const withoutUrl = (response: ServiceResponse) => {
  const { url, ...asset } = response.body.data
  return JSON.stringify(asset)
}

describe("Asset events", () => {
  const at = useFixture(() => startServiceWithTenant())
  const assets = () => assetClient(at().service, at().tenant)

  const eventsOf = async (id: string) => {
    const { rows } = await at().pool.query<EventRow>(
      `select type, sequence, tenant_id as tenant, client_id as client, data::text as data
       from events where resource_id = $1 order by sequence`,
      [id]
    )
    return rows
  }

  for (const [access, expectedData] of [
    ["PUBLIC", dataOf],
    ["SIGNED", withoutUrl]
  ] as const) {
    it(`of a ${access} asset carry what the API returned, from creation to deletion`, async () => {
      const created = await assets().call("POST", "", { ...minimalAsset, access, originalFileName: "logo.png" })
      const { assetId } = created.body.data
      const wrongType = await assets().put(assetId, gif)
      assert.strictEqual((await assets().complete(assetId)).status, 400)
      const failed = await assets().record(assetId)
      const correctType = await assets().put(assetId, png())
      const ready = await assets().complete(assetId)
      const renamed = await assets().patch(assetId, { originalFileName: null })
      assert.strictEqual((await assets().remove(assetId)).status, 204)

      const expected: ReadonlyArray<readonly [string, ServiceResponse]> = [
        ["created", created],
        ["updated", wrongType],
        ["failed", failed],
        ["updated", correctType],
        ["ready", ready],
        ["updated", renamed],
        ["deleted", renamed]
      ]
      assert.deepStrictEqual(
        await eventsOf(assetId),
        expected.map(([action, response], n) => ({
          type: `asset.${action}`,
          sequence: n + 1,
          tenant: at().tenant,
          client: null,
          data: expectedData(response)
        }))
      )
    })
  }

  it("never contain a signed URL", async () => {
    const { assetId } = await assets().createReady({ access: "SIGNED" })
    await assets().patch(assetId, { access: "PUBLIC" })
    await assets().patch(assetId, { access: "SIGNED" })
    const urls = (await eventsOf(assetId)).map(({ data }) => JSON.parse(data).url)
    assert.deepStrictEqual(urls, [undefined, undefined, undefined, `/api/v1/assets/${assetId}`, undefined])
    const { rows } = await at().pool.query("select 1 from events where strpos(data::text, 'signature') > 0")
    assert.deepStrictEqual(rows, [])
  })

  it("are not recorded for rejected requests or requests without a change", async () => {
    const { assetId } = await assets().createReady()
    const { assetId: pending } = await assets().declare()
    const before = [await eventsOf(assetId), await eventsOf(pending)]
    const stale = { "if-match": '"stale"' }
    const responses: ReadonlyArray<readonly [number, ServiceResponse]> = [
      [200, await assets().complete(assetId)],
      [400, await assets().put(assetId, png())],
      [400, await assets().patch(assetId, { access: "OPEN" })],
      [412, await assets().patch(assetId, { access: "SIGNED" }, stale)],
      [412, await assets().remove(assetId, stale)],
      [400, await assets().complete(pending)],
      [412, await assets().put(pending, png(), stale)],
      [413, await assets().put(pending, Buffer.alloc(5 * 1024 * 1024 + 1))]
    ]
    for (const [status, response] of responses) assert.strictEqual(response.status, status, response.text)
    assert.deepStrictEqual([await eventsOf(assetId), await eventsOf(pending)], before)
  })
})
