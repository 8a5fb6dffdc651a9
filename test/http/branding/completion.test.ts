import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { assetClient } from "../../support/fixtures/assets.ts"
import { png } from "../../support/fixtures/images.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const deleteBytes = "delete from blob_chunks c using blobs b where b.place = c.place and b.digest = $1"
const replaceDigest = "update assets set digest = $1 where id = $2"

describe("POST /assets/{assetId}/complete", () => {
  const at = useFixture(() => startServiceWithTenant())
  const assets = () => assetClient(at().service, at().tenant)

  const digestOf = async (id: string) =>
    (await at().pool.query<{ digest: string }>("select digest from assets where id = $1", [id])).rows[0]?.digest ?? ""

  let size = 1000
  const upload = async () => {
    const { assetId: id } = await assets().upload(png({ bytes: size++ }))
    return { id, digest: await digestOf(id) }
  }

  type Lock = Awaited<ReturnType<typeof lockRow>>

  /** Completes an asset while `change` runs before its bytes can be read. */
  const completeDuring = async (id: string, change: (lock: Lock) => Promise<unknown>): Promise<ServiceResponse> => {
    const lock = await lockRow(at().pool, "lock table blob_chunks in access exclusive mode")
    const response = assets().complete(id)
    await lock.untilWaiting(1)
    await change(lock)
    await lock.release()
    return response
  }

  const replacedError = ["content", "format", "was replaced during its verification; complete the asset again"] as const

  it("responds with 404 if the asset is deleted meanwhile", async () => {
    const { digest, id } = await upload()
    const { status, text } = await completeDuring(id, async (lock) => {
      await lock.runInTransaction(deleteBytes, digest)
      assert.strictEqual((await assets().remove(id)).status, 204)
    })
    assert.strictEqual(status, 404, text)
  })

  it("asks for another completion if the bytes are replaced and deleted meanwhile", async () => {
    const { digest, id } = await upload()
    const other = await upload()
    const response = await completeDuring(id, async (lock) => {
      await lock.runInTransaction(deleteBytes, digest)
      await lock.runInTransaction(replaceDigest, other.digest, id)
    })
    assertValidationError(response, [...replacedError])
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
    assert.strictEqual((await assets().complete(id)).status, 200)
  })

  it("asks for another completion if the bytes are replaced after they were read", async () => {
    const { id } = await upload()
    const other = await upload()
    const response = await completeDuring(id, (lock) => lock.runInTransaction(replaceDigest, other.digest, id))
    assertValidationError(response, [...replacedError])
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
    assert.strictEqual((await assets().complete(id)).status, 200)
  })

  it("responds with 500 if the bytes are missing and the asset did not change", async () => {
    const { digest, id } = await upload()
    const { status } = await completeDuring(id, (lock) => lock.runInTransaction(deleteBytes, digest))
    assert.strictEqual(status, 500)
    assert.strictEqual((await assets().record(id)).body.data.status, "PENDING")
  })
})
