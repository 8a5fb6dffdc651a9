import { assert, beforeAll, describe, it } from "vitest"
import { assertFailure, assertValidationError, forbiddenText, notFoundText } from "../../support/assertions/failures.ts"
import {
  authorizationClient,
  minimalDrive,
  minimalJira,
  startServiceWithProvider
} from "../../support/fixtures/authorizations.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

const unknown = ["confirmation", "exists", "is unknown, expired or used already"] as const

describe("confirming an authorization", () => {
  const at = useFixture(startServiceWithProvider)
  beforeAll(() => addMember(at().service, at().tenant, "other", "ADMIN"))
  const ours = (as?: string) => authorizationClient(at().service, at().server, at().tenant, as)
  const grantsOf = async (id: string) => {
    const { rows } = await at().pool.query("select generation, site_id, scopes from grants where integration_id = $1", [
      id
    ])
    return rows
  }

  it("puts the grant to use, and tells so", async () => {
    const { id } = await ours().made(minimalJira)
    const confirmed = await ours().confirm(id, await ours().waiting(id))
    assert.strictEqual(confirmed.status, 200, confirmed.text)
    assert.deepInclude(confirmed.body.data, { id, status: "ACTIVE", isAuthorized: true })
    assert.deepStrictEqual((await ours().get(id)).body, confirmed.body)
    const scopes = "read:jira-work manage:jira-webhook offline_access"
    assert.deepStrictEqual(await grantsOf(id), [{ generation: 1, site_id: "site-1", scopes }])
    const events = await eventsOf(at().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
    assert.deepStrictEqual(JSON.parse(events[1]?.data ?? ""), confirmed.body.data)
  })

  it("takes away why there was none before", async () => {
    const { id } = await ours().made(minimalDrive)
    const { state } = await ours().consented(id)
    await ours().callback({ state, error: "access_denied" })
    assert.property(await ours().shown(id), "statusReason")
    await ours().confirm(id, await ours().waiting(id))
    assert.notProperty(await ours().shown(id), "statusReason")
  })

  it("works once, also for many at once", async () => {
    const { id } = await ours().made(minimalDrive)
    const confirmation = await ours().waiting(id)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ours().confirm(id, confirmation)))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400, 400, 400, 400])
    assertValidationError(await ours().confirm(id, confirmation), unknown)
    assert.lengthOf(await grantsOf(id), 1)
  })

  it("is for who began alone", async () => {
    const { id } = await ours().made(minimalDrive)
    const confirmation = await ours().waiting(id)
    assertFailure(await ours("other").confirm(id, confirmation), 403, forbiddenText)
    assert.isEmpty(await grantsOf(id))
    assert.strictEqual((await ours().confirm(id, confirmation)).status, 200)
  })

  it("is for the integration it was begun for alone", async () => {
    const [{ id }, other] = [await ours().made(minimalDrive), await ours().made(minimalDrive)]
    const confirmation = await ours().waiting(id)
    assertValidationError(await ours().confirm(other.id, confirmation), unknown)
    const elsewhere = authorizationClient(at().service, at().server, await at().service.newTenant())
    assertFailure(await elsewhere.confirm(id, confirmation), 404, notFoundText)
    assert.isEmpty(await grantsOf(id))
  })

  it("comes too late after ten minutes", async () => {
    const { id } = await ours().made(minimalDrive)
    const confirmation = await ours().waiting(id)
    const { rows } = await at().pool.query(
      `update pending_grants set expires_at = now() where integration_id = $1
       returning (select extract(epoch from p.expires_at - now()) between 590 and 600 as soon
         from pending_grants p where p.integration_id = $1)`,
      [id]
    )
    assert.deepStrictEqual(rows, [{ soon: true }])
    assertValidationError(await ours().confirm(id, confirmation), unknown)
    assert.isFalse((await ours().shown(id)).isAuthorized)
  })

  it("does not know what nobody was told", async () => {
    const { id } = await ours().made(minimalDrive)
    await ours().waiting(id)
    assertValidationError(await ours().confirm(id, "x".repeat(43)), unknown)
  })

  it("overtakes what else the same person consented to", async () => {
    const { id } = await ours().made(minimalDrive)
    const [first, second] = [await ours().waiting(id), await ours().waiting(id)]
    assert.strictEqual((await ours().confirm(id, second)).status, 200)
    assertValidationError(await ours().confirm(id, first), unknown)
  })

  it("opens nothing that was moved to another row", async () => {
    const [{ id }, other] = [await ours().made(minimalDrive), await ours().made(minimalDrive)]
    const confirmation = await ours().waiting(id)
    await at().pool.query("update pending_grants set integration_id = $2 where integration_id = $1", [id, other.id])
    assert.strictEqual((await ours().confirm(other.id, confirmation)).status, 500)
    assert.isFalse((await ours().shown(other.id)).isAuthorized)
  })
})
