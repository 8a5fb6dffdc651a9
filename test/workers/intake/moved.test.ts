import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { issueFixture, startServiceWithIntake } from "../../support/fixtures/billableIssues.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

describe("an issue that the tracker has given another key", () => {
  const at = useFixture(startServiceWithIntake)

  /** ABC-1 is billed, and is XYZ-5 from then on. */
  const billedAndMoved = async () => {
    const world = await issueFixture(at().service, at().pool)
    const { id, tell } = await world.connected("one")
    const invoice = await world.draft()
    const { body } = await world.bill(invoice, id)
    const line = String(body.data[0].id)
    await tell("updated", { key: "XYZ-5", title: "Of one", timestamp: 2 })
    const billAgain = async (choice: object = { issueKeys: ["XYZ-5"] }) => world.bill(await world.draft(), id, choice)
    return { ...world, invoice, line, tell, billAgain }
  }

  it("is not billed again, and the invoice it is on is told", async () => {
    const { billAgain, invoice } = await billedAndMoved()
    assertValidationError(await billAgain(), ["issueKeys[0]", "unique", `is billed already, on invoice ${invoice}`])
    const filter = { filter: { projectKey: "XYZ" } }
    assertValidationError(await billAgain(filter), ["filter", "minItems", "leaves no issue that is not billed yet"])
  })

  it("is still told of when it changes", async () => {
    const { line, tell } = await billedAndMoved()
    await tell("updated", { key: "XYZ-5", title: "Larger", timestamp: 3 })
    const types = (await eventsOf(at().pool, line)).map(({ type }) => type)
    const changed = "billable.reference_changed"
    assert.deepStrictEqual(types, ["billable.created", changed, changed])
  })

  it("can be billed once when its line is gone, however many try", async () => {
    const { billAgain, invoicing, line } = await billedAndMoved()
    await invoicing.call("DELETE", `/billables/${line}`)
    const answers = await Promise.all(Array.from({ length: 6 }, () => billAgain()))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 400, 400, 400, 400, 400])
    const winner = answers.find(({ status }) => status === 201)?.body.data[0].invoice
    for (const answer of answers)
      if (answer.status === 400)
        assertValidationError(answer, ["issueKeys[0]", "unique", `is billed already, on invoice ${winner}`])
  })
})
