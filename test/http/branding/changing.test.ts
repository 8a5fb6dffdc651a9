import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { assetClient } from "../../support/fixtures/assets.ts"
import { png } from "../../support/fixtures/images.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const dropBytes = "delete from blob_chunks c using blobs b where b.place = c.place and b.digest = $1"
const replace = "update assets set digest = $1 where id = $2"

describe("an asset that changes while its bytes are looked at", () => {
  const at = useFixture(startServiceWithTenant)
  const assets = () => assetClient(at().service, at().tenant)

  const digestOf = async (id: string) =>
    (await at().pool.query<{ digest: string }>("select digest from assets where id = $1", [id])).rows[0]?.digest ?? ""

  let size = 1000
  const uploaded = async () => {
    const { assetId: id } = await assets().uploaded(png({ bytes: size++ }))
    return { id, digest: await digestOf(id) }
  }

  type Held = Awaited<ReturnType<typeof lockRow>>

  /** Completes an asset, of whose bytes none can be read before `change` is done. */
  const completing = async (id: string, change: (held: Held) => Promise<unknown>): Promise<ServiceResponse> => {
    const held = await lockRow(at().pool, "lock table blob_chunks in access exclusive mode")
    const answer = assets().complete(id)
    await held.until(1)
    await change(held)
    await held.release()
    return answer
  }

  const changed = ["content", "format", "was replaced while it was looked at; complete it again"] as const

  it("is not there any more, when it was deleted", async () => {
    const { digest, id } = await uploaded()
    const { status, text } = await completing(id, async (held) => {
      await held.meanwhile(dropBytes, digest)
      assert.strictEqual((await assets().remove(id)).status, 204)
    })
    assert.strictEqual(status, 404, text)
  })

  it("is to be completed again, when it has other bytes and the old ones are gone", async () => {
    const { digest, id } = await uploaded()
    const other = await uploaded()
    const answer = await completing(id, async (held) => {
      await held.meanwhile(dropBytes, digest)
      await held.meanwhile(replace, other.digest, id)
    })
    assertValidationError(answer, [...changed])
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
    assert.strictEqual((await assets().complete(id)).status, 200)
  })

  it("is to be completed again, when it has other bytes and the old ones were read", async () => {
    const { id } = await uploaded()
    const other = await uploaded()
    const answer = await completing(id, (held) => held.meanwhile(replace, other.digest, id))
    assertValidationError(answer, [...changed])
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
    assert.strictEqual((await assets().complete(id)).status, 200)
  })

  it("is a fault of ours, when its bytes are gone and nobody changed it", async () => {
    const { digest, id } = await uploaded()
    const { status } = await completing(id, (held) => held.meanwhile(dropBytes, digest))
    assert.strictEqual(status, 500)
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
  })
})
