import { afterAll, beforeAll, describe, it } from "vitest"
import { failover } from "../../../tools/drills/failover.ts"
import { openStage, type Stage } from "../../../tools/drills/stage.ts"

describe("Promotion of a standby under load", { timeout: 120_000 }, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.close(), 60_000)

  it("loses nothing that was answered with 2xx, answers no 500, and needs no restart", async () => {
    await failover(stage, { writesPerSecond: 50, beforeMs: 1000, readOnlyMs: 500, afterMs: 3000 })
  })
})
