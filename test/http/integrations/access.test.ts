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

/** The expected status for each of `callers`, in their order. */
const statuses: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
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

const isAuthorization = (operation: string) => /\/(authorize|confirm)$/.test(operation)

/** The path of a request, and its body if it is not in `bodies`. */
interface Target {
  readonly path: string
  readonly body?: object
}

describe("Role-based access", () => {
  const fixture = useFixture(() => startServiceWithProvider({ MAX_INTEGRATIONS: "1000" }))
  let otherTenant: string
  beforeAll(async () => {
    const { service, tenant } = fixture()
    await Promise.all(["VIEWER", "MEMBER", "ADMIN"].map((role) => addMember(service, tenant, role, role)))
    otherTenant = await service.newTenant()
  })

  /** Creates an integration for an authorization request, with a pending grant to confirm if needed. */
  const prepareAuthorization = async (operation: string, tenant: string): Promise<Target> => {
    const integrations = authorizationClient(fixture().service, fixture().server, tenant)
    const { id } = await integrations.mustCreate(minimalDrive)
    const confirmation = operation.endsWith("/confirm") ? await integrations.pendingConfirmation(id) : undefined
    const path = `/integrations/${id}/${operation.split("/").at(-1)}`
    return { path, ...(confirmation && { body: { confirmation } }) }
  }

  /** Creates what the path of an operation names. */
  const prepareTarget = async (operation: string, tenant = fixture().tenant): Promise<Target> => {
    if (isAuthorization(operation)) return prepareAuthorization(operation, tenant)
    const path = operation.split(" ")[1] ?? ""
    if (!path.includes("{")) return { path }
    const integrations = integrationClient(fixture().service, tenant)
    const { id } = await integrations.mustCreate()
    if (operation.endsWith("/resume")) await integrations.transition(id, "pause")
    const parameters: Readonly<Record<string, () => Promise<string>>> = {
      "{integrationId}": async () => id,
      "{subscriptionId}": async () => (await integrations.mustSubscribe(id)).id,
      "{eventId}": async () => (await integrations.transition(id, "ping")).body.data.id,
      "{deliveryId}": () => insertDelivery(fixture().pool, tenant, id),
      "{issueId}": () => insertIssues(fixture().pool, tenant, id),
      "{webhookId}": () => insertInboundWebhook(fixture().pool, tenant, id)
    }
    let address = path
    for (const [name, create] of Object.entries(parameters)) {
      if (path.includes(name)) address = address.replace(name, await create())
    }
    return { path: address }
  }
  const send = (operation: string, { body = bodies[operation], path }: Target, as: string) =>
    fixture().service.api(operation.split(" ")[0] ?? "", path, {
      as,
      tenant: fixture().tenant,
      ...(body === undefined ? {} : { body })
    })

  for (const [operation, expected] of Object.entries(statuses)) {
    const [allowed, rejected] = [true, false].map((isAllowed) =>
      callers.filter((_, index) => (expected[index] ?? 0) < 300 === isAllowed)
    )

    it(`to ${operation} is granted only to ${allowed?.join(", ")}`, async () => {
      const assertStatus = async (caller: (typeof callers)[number], target: Target) => {
        const { status, text } = await send(operation, target, caller)
        assert.strictEqual(status, expected[callers.indexOf(caller)], `as ${caller}: ${text}`)
      }
      // A rejected request changes nothing, nor does a read, so they share a target.
      const shared = await prepareTarget(operation)
      for (const caller of rejected ?? []) await assertStatus(caller, shared)
      for (const caller of allowed ?? []) {
        await assertStatus(caller, operation.startsWith("GET ") ? shared : await prepareTarget(operation))
      }
    })

    if (operation.includes("{")) {
      it(`to ${operation} of another tenant is rejected with 404`, async () => {
        const { status } = await send(operation, await prepareTarget(operation, otherTenant), "owner")
        assert.strictEqual(status, 404)
      })
    }
  }

  it("is tested for every operation on integrations and events", () => {
    const all = operationsOf(fixture().service.document).map(({ name }) => name.replace("/api/v1", ""))
    const operations = all.filter((name) => / \/(integrations|events)(\/|$)/.test(name))
    assert.sameMembers(operations, Object.keys(statuses))
  })
})
