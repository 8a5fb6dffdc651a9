import { assert, beforeAll, describe, it } from "vitest"
import { operationsOf } from "../../support/assertions/operations.ts"
import { authorizationClient, minimalDrive, startServiceWithProvider } from "../../support/fixtures/authorizations.ts"
import { insertDelivery } from "../../support/fixtures/deliveryRows.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { insertInboundWebhook, insertIssues } from "../../support/fixtures/issueRows.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { trustedOrigin } from "../../support/servers/oauthProvider.ts"

const callers = ["VIEWER", "MEMBER", "ADMIN", "owner", "outsider"] as const

const read = [200, 200, 200, 200, 403] as const
const manage = (status: number) => [403, 403, status, status, 403] as const

/** Who gets which answer, in the order of `callers`. */
const table: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  "GET /integrations": read,
  "POST /integrations": manage(201),
  "GET /integrations/{integrationId}": read,
  "PATCH /integrations/{integrationId}": manage(200),
  "DELETE /integrations/{integrationId}": manage(204),
  "POST /integrations/{integrationId}/pause": manage(200),
  "POST /integrations/{integrationId}/resume": manage(200),
  "POST /integrations/{integrationId}/ping": manage(200),
  "POST /integrations/{integrationId}/rotate-secret": manage(200),
  "POST /integrations/{integrationId}/authorize": manage(200),
  "POST /integrations/{integrationId}/confirm": [403, 403, 403, 200, 403],
  "GET /integrations/oauth/callback": [200, 200, 200, 200, 200],
  "GET /integrations/{integrationId}/subscriptions": read,
  "POST /integrations/{integrationId}/subscriptions": manage(201),
  "GET /integrations/{integrationId}/subscriptions/{subscriptionId}": read,
  "DELETE /integrations/{integrationId}/subscriptions/{subscriptionId}": manage(204),
  "GET /integrations/{integrationId}/deliveries": read,
  "GET /integrations/{integrationId}/deliveries/{deliveryId}": read,
  "POST /integrations/{integrationId}/deliveries/{deliveryId}/redeliver": manage(200),
  "POST /integrations/{integrationId}/redeliver": manage(200),
  "GET /integrations/{integrationId}/issues": read,
  "GET /integrations/{integrationId}/issues/{issueId}": read,
  "GET /integrations/{integrationId}/inbound": read,
  "GET /integrations/{integrationId}/inbound/{webhookId}": read,
  "POST /integrations/{integrationId}/inbound/{webhookId}/replay": manage(200),
  "GET /events": read,
  "GET /events/{eventId}": read
}

const bodies: Readonly<Record<string, object>> = {
  "POST /integrations": { provider: "NATS", name: "Stream" },
  "PATCH /integrations/{integrationId}": { name: "Other" },
  "POST /integrations/{integrationId}/redeliver": { since: "2026-01-31T00:00:00Z" },
  "POST /integrations/{integrationId}/rotate-secret": {},
  "POST /integrations/{integrationId}/authorize": { origin: trustedOrigin },
  "POST /integrations/{integrationId}/subscriptions": { eventType: "invoice.*" }
}

const isAuthorizing = (row: string) => /\/(authorize|confirm)$/.test(row)

describe("roles and integrations", () => {
  const at = useFixture(() => startServiceWithProvider({ MAX_INTEGRATIONS: "1000" }))
  beforeAll(async () => {
    for (const role of ["VIEWER", "MEMBER", "ADMIN"]) {
      await addMember(at().service, at().tenant, role, role)
    }
  })

  /** The path of a row about an authorization, and what a grant that waits is confirmed with. */
  const authorizing = async (row: string, home: string) => {
    const ours = authorizationClient(at().service, at().server, home)
    const { id } = await ours.made(minimalDrive)
    const confirmation = row.endsWith("/confirm") ? await ours.waiting(id) : undefined
    return { path: `/integrations/${id}/${row.split("/").at(-1)}`, ...(confirmation && { body: { confirmation } }) }
  }

  /** The path of a row, with something new to act on. */
  const addressIn = async (
    row: string,
    home = at().tenant
  ): Promise<{ readonly path: string; readonly body?: object }> => {
    if (isAuthorizing(row)) return authorizing(row, home)
    const ours = integrationClient(at().service, home)
    const { id } = await ours.made()
    const subscription = await ours.madeSubscription(id)
    if (row.endsWith("/resume")) await ours.move(id, "pause")
    const { body } = await ours.move(id, "ping")
    const delivery = await insertDelivery(at().pool, home, id)
    const path = (row.split(" ")[1] ?? "")
      .replace("{integrationId}", id)
      .replace("{deliveryId}", delivery)
      .replace("{subscriptionId}", subscription.id)
      .replace("{eventId}", body.data.id)
      .replace("{issueId}", await insertIssues(at().pool, home, id))
      .replace("{webhookId}", await insertInboundWebhook(at().pool, home, id))
    return { path }
  }
  const send = (
    row: string,
    { body = bodies[row], path }: { readonly path: string; readonly body?: object },
    as: string
  ) => {
    return at().service.api(row.split(" ")[0] ?? "", path, {
      as,
      tenant: at().tenant,
      ...(body === undefined ? {} : { body })
    })
  }

  for (const [row, expected] of Object.entries(table)) {
    it(`decide about ${row}`, async () => {
      for (const [index, caller] of callers.entries()) {
        const { status, text } = await send(row, await addressIn(row), caller)
        assert.strictEqual(status, expected[index], `as ${caller}: ${text}`)
      }
    })

    if (row.includes("{")) {
      it(`do not help with ${row} of another tenant`, async () => {
        const { status } = await send(row, await addressIn(row, await at().service.newTenant()), "owner")
        assert.strictEqual(status, 404)
      })
    }
  }

  it("are decided here for every operation there is", () => {
    const all = operationsOf(at().service.document).map(({ name }) => name.replace("/api/v1", ""))
    const own = all.filter((name) => / \/(integrations|events)(\/|$)/.test(name))
    assert.sameMembers(own, Object.keys(table))
  })
})
