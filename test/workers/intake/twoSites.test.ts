import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { issueFixture, startServiceWithIntake } from "../../support/fixtures/billableIssues.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

describe("Issues with the same key on two Jira sites", () => {
  const at = useFixture(startServiceWithIntake)
  const createFixture = () => issueFixture(at().service, at().pool)

  it("are billed once per site", async () => {
    const { bill, connectJira, draft } = await createFixture()
    const [one, two] = [await connectJira("one"), await connectJira("two")]
    const invoices = [await draft(), await draft()] as const
    const lines = [await bill(invoices[0], one.id), await bill(invoices[1], two.id)].map(({ body }) => body.data[0])
    assert.deepStrictEqual(
      lines.map(({ metadata, referenceId, referenceType }) => [
        referenceType,
        referenceId,
        metadata.siteId,
        metadata.title
      ]),
      [
        ["jira", "ABC-1", "one", "Of one"],
        ["jira", "ABC-1", "two", "Of two"]
      ]
    )
    const alreadyBilled = (invoice: string) =>
      ["issueKeys[0]", "unique", `is already billed on invoice ${invoice}`] as const
    assertValidationError(await bill(await draft(), one.id), alreadyBilled(invoices[0]))
    assertValidationError(await bill(await draft(), two.id), alreadyBilled(invoices[1]))
    const again = await connectJira("one")
    assertValidationError(await bill(await draft(), again.id), alreadyBilled(invoices[0]))
  })

  it("are excluded from a filter only for the site whose issue is billed", async () => {
    const { bill, connectJira, draft } = await createFixture()
    const [one, two] = [await connectJira("one"), await connectJira("two")]
    await bill(await draft(), one.id)
    const choice = { filter: { projectKey: "ABC" } }
    assertValidationError(await bill(await draft(), one.id, choice), [
      "filter",
      "minItems",
      "matches no unbilled issue"
    ])
    assert.strictEqual((await bill(await draft(), two.id, choice)).status, 201)
  })

  it("are billed once per site by concurrent requests", async () => {
    const { bill, connectJira, draft } = await createFixture()
    const [one, two] = [await connectJira("one"), await connectJira("two")]
    const statuses = await Promise.all(
      [one, two, one, two, one, two].map(async ({ id }) => (await bill(await draft(), id)).status)
    )
    assert.deepStrictEqual(statuses.toSorted(), [201, 201, 400, 400, 400, 400])
  })

  it("are both billed by a line without a site", async () => {
    const { bill, connectJira, draft, invoicing } = await createFixture()
    const [one, two] = [await connectJira("one"), await connectJira("two")]
    const invoice = await draft()
    await invoicing.add(invoice, { referenceType: "jira", referenceId: "ABC-1" })
    for (const { id } of [one, two])
      assertValidationError(await bill(await draft(), id), [
        "issueKeys[0]",
        "unique",
        `is already billed on invoice ${invoice}`
      ])
  })

  it("emit billable.reference_changed only for the line of their own site", async () => {
    const { bill, connectJira, draft } = await createFixture()
    const [one, two] = [await connectJira("one"), await connectJira("two")]
    const lines = [await bill(await draft(), one.id), await bill(await draft(), two.id)]
    await two.sendIssue("updated", { key: "ABC-1", title: "Changed", timestamp: 2 })
    const types = await Promise.all(
      lines.map(async ({ body }) => (await eventsOf(at().pool, body.data[0].id)).map(({ type }) => type))
    )
    assert.deepStrictEqual(types, [["billable.created"], ["billable.created", "billable.reference_changed"]])
  })
})
