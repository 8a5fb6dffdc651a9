import { SqlClient } from "@effect/sql/SqlClient"
import { Cause, Effect, Exit, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { maxMinor } from "../../../../src/domain/money/Money.ts"
import { sumTooLarge } from "../../../../src/domain/reports/ReportAmount.ts"
import { requireExactSums } from "../../../../src/layers/infra/postgres/ExactSums.ts"
import { testLayers } from "../../../support/servers/layers.ts"

describe("requireExactSums", () => {
  let runtime: ReturnType<typeof start>
  const start = () => ManagedRuntime.make(testLayers(inject("databaseUrl")))
  beforeAll(() => {
    runtime = start()
  })
  afterAll(() => runtime.dispose())

  const sumOf = (times: string) =>
    runtime.runPromiseExit(
      Effect.flatMap(SqlClient, (sql) =>
        requireExactSums("from")(
          sql<{ sum: number }>`select (${String(maxMinor)}::numeric * ${times}::numeric)::bigint as sum`
        )
      )
    )

  it.each(["1", "-1"])("returns the largest sum, times %s", async (times) => {
    assert.deepStrictEqual(await sumOf(times), Exit.succeed([{ sum: Number(times) * maxMinor }]))
  })

  it.each([
    ["a sum that a number does not hold", "2"],
    ["a negative one", "-2"],
    ["a sum that PostgreSQL does not hold", "2000"]
  ])("fails for %s with an error of the field", async (_, times) => {
    const exit = await sumOf(times)
    if (Exit.isSuccess(exit)) return assert.fail("expected a failure")
    assert.deepStrictEqual(Cause.squash(exit.cause), sumTooLarge("from"))
  })

  it("leaves every other error a defect", async () => {
    const exit = await runtime.runPromiseExit(
      Effect.flatMap(SqlClient, (sql) => requireExactSums("from")(sql`select 1 / 0`))
    )
    assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
  })
})
