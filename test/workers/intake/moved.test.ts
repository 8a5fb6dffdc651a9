import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { issueFixture, startServiceWithIntake } from "../../support/fixtures/billableIssues.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

describe("An issue that moves to another key in Jira", () => {
  const at = useFixture(startServiceWithIntake)

  /** Bills ABC-1, then moves it to XYZ-5. */
  const billAndMove = async () => {
    const fixture = await issueFixture(at().service, at().pool)
    const { id, sendIssue } = await fixture.connectJira("one")
    const invoice = await fixture.draft()
    const { body } = await fixture.bill(invoice, id)
    const line = String(body.data[0].id)
    await sendIssue("updated", { key: "XYZ-5", title: "Of one", timestamp: 2 })
    const billAgain = async (choice: object = { issueKeys: ["XYZ-5"] }) =>
      fixture.bill(await fixture.draft(), id, choice)
    return { ...fixture, invoice, line, tell: sendIssue, billAgain }
  }

  it("is not billed again, and the error names its invoice", async () => {
    const { billAgain, invoice } = await billAndMove()
    assertValidationError(await billAgain(), ["issueKeys[0]", "unique", `is already billed on invoice ${invoice}`])
    const filter = { filter: { projectKey: "XYZ" } }
    assertValidationError(await billAgain(filter), ["filter", "minItems", "matches no unbilled issue"])
  })

  it("still emits billable.reference_changed when it changes", async () => {
    const { line, tell } = await billAndMove()
    await tell("updated", { key: "XYZ-5", title: "Larger", timestamp: 3 })
    const types = (await eventsOf(at().pool, line)).map(({ type }) => type)
    const changed = "billable.reference_changed"
    assert.deepStrictEqual(types, ["billable.created", changed, changed])
  })

  it("is billed once by concurrent requests after its line is deleted", async () => {
    const { billAgain, invoicing, line } = await billAndMove()
    await invoicing.call("DELETE", `/billables/${line}`)
    const responses = await Promise.all(Array.from({ length: 6 }, () => billAgain()))
    assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [201, 400, 400, 400, 400, 400])
    const winner = responses.find(({ status }) => status === 201)?.body.data[0].invoice
    for (const response of responses)
      if (response.status === 400)
        assertValidationError(response, ["issueKeys[0]", "unique", `is already billed on invoice ${winner}`])
  })
})
