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

const unknownConfirmation = ["confirmation", "exists", "is unknown, expired or already used; authorize again"] as const

describe("POST /integrations/{integrationId}/confirm", () => {
  const fixture = useFixture(startServiceWithProvider)
  beforeAll(() => addMember(fixture().service, fixture().tenant, "other", "ADMIN"))
  const integrations = (as?: string) => authorizationClient(fixture().service, fixture().server, fixture().tenant, as)
  const grantsOf = async (id: string) => {
    const { rows } = await fixture().pool.query(
      "select generation, site_id, scopes from grants where integration_id = $1",
      [id]
    )
    return rows
  }

  it("activates the integration and records integration.updated", async () => {
    const { id } = await integrations().mustCreate(minimalJira)
    const confirmed = await integrations().confirm(id, await integrations().pendingConfirmation(id))
    assert.strictEqual(confirmed.status, 200, confirmed.text)
    assert.deepInclude(confirmed.body.data, { id, status: "ACTIVE", isAuthorized: true })
    assert.deepStrictEqual((await integrations().get(id)).body, confirmed.body)
    const scopes = "read:jira-work manage:jira-webhook offline_access"
    assert.deepStrictEqual(await grantsOf(id), [{ generation: 1, site_id: "site-1", scopes }])
    const events = await eventsOf(fixture().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated"]
    )
    assert.deepStrictEqual(JSON.parse(events[1]?.data ?? ""), confirmed.body.data)
  })

  it("clears the statusReason of an earlier failed authorization", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const { state } = await integrations().consent(id)
    await integrations().callback({ state, error: "access_denied" })
    assert.property(await integrations().read(id), "statusReason")
    await integrations().confirm(id, await integrations().pendingConfirmation(id))
    assert.notProperty(await integrations().read(id), "statusReason")
  })

  it("accepts a confirmation only once, also from concurrent requests", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const confirmation = await integrations().pendingConfirmation(id)
    const responses = await Promise.all(Array.from({ length: 6 }, () => integrations().confirm(id, confirmation)))
    assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 400, 400, 400, 400, 400])
    assertValidationError(await integrations().confirm(id, confirmation), unknownConfirmation)
    assert.lengthOf(await grantsOf(id), 1)
  })

  it("rejects everybody except the person who began the authorization", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const confirmation = await integrations().pendingConfirmation(id)
    assertFailure(await integrations("other").confirm(id, confirmation), 403, forbiddenText)
    assert.isEmpty(await grantsOf(id))
    assert.strictEqual((await integrations().confirm(id, confirmation)).status, 200)
  })

  it("rejects the confirmation of another integration", async () => {
    const [{ id }, other] = [
      await integrations().mustCreate(minimalDrive),
      await integrations().mustCreate(minimalDrive)
    ]
    const confirmation = await integrations().pendingConfirmation(id)
    assertValidationError(await integrations().confirm(other.id, confirmation), unknownConfirmation)
    const otherTenant = authorizationClient(fixture().service, fixture().server, await fixture().service.newTenant())
    assertFailure(await otherTenant.confirm(id, confirmation), 404, notFoundText)
    assert.isEmpty(await grantsOf(id))
  })

  it("rejects a confirmation after ten minutes", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const confirmation = await integrations().pendingConfirmation(id)
    const { rows } = await fixture().pool.query(
      `update pending_grants set expires_at = now() where integration_id = $1
       returning (select extract(epoch from p.expires_at - now()) between 590 and 600 as is_expected
         from pending_grants p where p.integration_id = $1)`,
      [id]
    )
    assert.deepStrictEqual(rows, [{ is_expected: true }])
    assertValidationError(await integrations().confirm(id, confirmation), unknownConfirmation)
    assert.isFalse((await integrations().read(id)).isAuthorized)
  })

  it("rejects an unknown confirmation", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    await integrations().pendingConfirmation(id)
    assertValidationError(await integrations().confirm(id, "x".repeat(43)), unknownConfirmation)
  })

  it("invalidates earlier confirmations of the same person", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const [first, second] = [await integrations().pendingConfirmation(id), await integrations().pendingConfirmation(id)]
    assert.strictEqual((await integrations().confirm(id, second)).status, 200)
    assertValidationError(await integrations().confirm(id, first), unknownConfirmation)
  })

  it("does not decrypt a pending grant that was moved to another integration", async () => {
    const [{ id }, other] = [
      await integrations().mustCreate(minimalDrive),
      await integrations().mustCreate(minimalDrive)
    ]
    const confirmation = await integrations().pendingConfirmation(id)
    await fixture().pool.query("update pending_grants set integration_id = $2 where integration_id = $1", [
      id,
      other.id
    ])
    assert.strictEqual((await integrations().confirm(other.id, confirmation)).status, 500)
    assert.isFalse((await integrations().read(other.id)).isAuthorized)
  })
})
