import type { ServerResponse } from "node:http"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { dumpMessages, dumpTables, encodingsOf, findLeaks } from "../support/assertions/leaks.ts"
import {
  type AuthorizationClient,
  authorizationClient,
  minimalDrive,
  minimalJira
} from "../support/fixtures/authorizations.ts"
import { minimalNats } from "../support/fixtures/integrations.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { makeWebhookBody, signJiraToken } from "../support/fixtures/jiraWebhookBody.ts"
import { jiraSender, webhookKeyOf } from "../support/fixtures/jiraWebhooks.ts"
import { openPool } from "../support/servers/database.ts"
import { type GoogleDriveServer, startGoogleDrive } from "../support/servers/googleDrive.ts"
import { type JiraServer, startJira } from "../support/servers/jira.ts"
import { startReconciler } from "../support/servers/jiraWebhookReconciler.ts"
import { type ApiRequest, bearerOf, sendJson } from "../support/servers/jsonServer.ts"
import { clientSecret, type OAuthProviderServer, startOAuthProvider } from "../support/servers/oauthProvider.ts"
import { type Receiver, startReceiver } from "../support/servers/receiver.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

const site = { id: "site-1", name: "One", url: "https://one.example.test" }

/** Responds with the request's token in every field that the service might quote. */
const echoToken = (status: number) => (request: ApiRequest, response: ServerResponse) => {
  const message = `echo ${status} ${request.headers.authorization}`
  sendJson(response, status, { message, errorMessages: [message], error: { message } })
  return true
}

describe("Secrets during provider errors", { timeout: 120_000 }, () => {
  let oauthProvider: OAuthProviderServer
  let jira: JiraServer
  let googleDrive: GoogleDriveServer
  let receiver: Receiver
  let service: Service
  let pool: pg.Pool
  const workers: Array<RunningWorker> = []
  let tenant: string
  let client: AuthorizationClient
  const secrets = [clientSecret]
  const responses: Array<string> = []
  const reconcilerLines: Array<string> = []
  const rows: Array<string> = []

  /** Collects every response except those that show a secret once by design. */
  const collectResponses = (target: Service): Service => ({
    ...target,
    api: async (method, path, options) => {
      const response = await target.api(method, path, options)
      const showsSecret = method === "POST" && (path === "/integrations" || path.endsWith("/rotate-secret"))
      if (!showsSecret) responses.push(JSON.stringify([...response.headers]), response.text)
      return response
    }
  })

  const stopFailing = () => {
    jira.trust(() => true)
    jira.intercept((request, response) => {
      if (request.url.pathname !== "/oauth/token/accessible-resources") return false
      sendJson(response, 200, [site])
      return true
    })
    googleDrive.intercept((request) => {
      googleDrive.rotate(bearerOf(request))
      return false
    })
    oauthProvider.overrideResponse("/token", undefined)
  }

  beforeAll(async () => {
    oauthProvider = await startOAuthProvider()
    jira = await startJira()
    googleDrive = await startGoogleDrive("folder-1")
    receiver = await startReceiver()
    service = collectResponses(
      await startService({ ...oauthProvider.environment, JIRA_API_URL: jira.url, GOOGLE_API_URL: googleDrive.url })
    )
    pool = openPool(service.database.url)
    for (const name of ["relay", "delivery", "intake"] as const) workers.push(await startWorker(service, name))
    tenant = await service.newTenant()
    client = authorizationClient(service, oauthProvider, tenant)
    stopFailing()
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await pool.end()
    await service.stop()
    for (const { stop } of [receiver, googleDrive, jira, oauthProvider]) await stop()
  })

  /** Authorizes an integration after the token endpoint has failed three times, each with the secrets in its error. */
  const authorize = async (id: string) => {
    for (const [status, error] of [
      [400, "invalid_grant"],
      [400, "invalid_request"],
      [500, "server_error"]
    ] as const) {
      const { code, state } = await client.consent(id)
      secrets.push(code)
      oauthProvider.overrideResponse("/token", {
        status,
        body: { error, error_description: `echo ${code} ${clientSecret}` }
      })
      await client.callback({ code, state }, "owner")
    }
    stopFailing()
    const { code, state } = await client.consent(id)
    secrets.push(code)
    const page = await client.callback({ code, state })
    assert.strictEqual(page.status, 200, page.text)
    await client.callback(await client.consent(id), "owner")
    assert.isTrue((await client.read(id)).isAuthorized)
  }

  const runReconciler = async (rounds: number) => {
    const reconciler = startReconciler(service, reconcilerLines)
    for (let n = 0; n < rounds; n++) await reconciler.reconcileAll()
    await reconciler.stop()
  }

  const expire = (id: string) => pool.query("update grants set expires_at = now() where integration_id = $1", [id])

  /** Registers a webhook after Jira has refused, Jira has failed and a token refresh has failed. */
  const register = async (id: string) => {
    jira.intercept(echoToken(400))
    await runReconciler(3)
    assert.include((await client.read(id)).statusReason, "echo 400", "the status reason quotes Jira")
    await client.transition(id, "resume")
    jira.intercept(echoToken(500))
    await runReconciler(1)
    stopFailing()
    await expire(id)
    const refreshToken = oauthProvider.issued.at(-1)
    oauthProvider.overrideResponse("/token", {
      status: 500,
      body: { error: "server_error", error_description: `echo ${refreshToken}` }
    })
    await runReconciler(1)
    stopFailing()
    await runReconciler(1)
    assert.isAbove(jira.webhooksOf(site.id).length, 0)
    // Starts only now: the janitor would have registered the webhook itself.
    workers.push(await startWorker(service, "janitor"))
  }

  const send = async (key: string) => {
    const bearer = await signJiraToken({ iat: Math.floor(Date.now() / 1000), jti: "test" }, clientSecret)
    secrets.push(bearer)
    const [registered] = jira.webhooksOf(site.id)
    const webhook = makeWebhookBody("created", { webhookIds: [registered?.id ?? 0] })
    const sent = await jiraSender(service).send(key, webhook, { as: bearer })
    assert.deepStrictEqual(sent.body, { data: { accepted: true } })
    await jiraSender(service).send(key, { nothing: true }, { as: bearer })
    await jiraSender(service).send(key, webhook, { as: `${bearer}x` })
    await eventually(async () => {
      const { rows: processed } = await pool.query("select 1 from inbound_webhooks where status = 'DONE'")
      return processed.length === 1
    }, "the webhook is processed")
  }

  const listAttempts = async (id: string) => {
    const { rows: found } = await pool.query<{ body: string | null }>(
      `select a.response_body as body from delivery_attempts a
       join deliveries d on d.tenant_id = a.tenant_id and d.id = a.delivery_id
       where d.integration_id = $1 order by a.attempted_at`,
      [id]
    )
    return found
  }
  const makeDue = () =>
    pool.query("update deliveries set next_attempt_at = now() where status = 'PENDING' and lease is null")
  const waitForAttempts = (id: string, times: number) =>
    eventually(async () => {
      await makeDue()
      return (await listAttempts(id)).length >= times
    }, `${times} attempts are recorded`)
  const waitForDelivery = (id: string) =>
    eventually(async () => {
      await makeDue()
      const { body } = await client.call("GET", `/${id}/deliveries?status=DELIVERED`)
      return body.data.length > 0
    }, "a delivery is DELIVERED")

  /** Delivers after Google Drive and the receiver have failed in every way and echoed their request. */
  const deliver = async (driveIntegration: string, webhookIntegration: string) => {
    receiver.respondWith(({ headers }, response) => response.writeHead(500).end(`echo ${JSON.stringify(headers)}`))
    googleDrive.intercept(echoToken(400))
    await invoiceClient(service, tenant).invoiceIn("FINALIZED")
    await waitForAttempts(driveIntegration, 1)
    googleDrive.intercept(echoToken(500))
    await waitForAttempts(driveIntegration, 2)
    googleDrive.intercept(echoToken(401))
    await waitForAttempts(driveIntegration, 3)
    assert.isTrue((await listAttempts(driveIntegration)).every(({ body }) => body?.includes("echo") !== false))
    stopFailing()
    await waitForDelivery(driveIntegration)
    await waitForAttempts(webhookIntegration, 2)
    receiver.respondWith((_, response) => response.end("{}"))
    await waitForDelivery(webhookIntegration)
  }

  const readEverything = async () => {
    for (const path of ["/integrations", "/events?limit=200"]) await service.api("GET", path, { as: "owner", tenant })
    const { body } = await client.call("GET", "")
    for (const { id } of body.data) {
      for (const list of ["deliveries", "inbound", "issues"]) {
        const listed = await client.call("GET", `/${id}/${list}`)
        for (const one of listed.body?.data ?? []) await client.call("GET", `/${id}/${list}/${one.id}`)
      }
    }
    responses.push(await (await fetch(`${service.url}/metrics`)).text())
    rows.push(...(await dumpTables(pool)))
  }

  it("pass through every flow, failing and successful", async () => {
    const createIntegration = async (fields: object) => {
      const { body } = await client.create(fields, { "idempotency-key": JSON.stringify(fields) })
      const { id, secret, webhookUrl } = body.data
      if (secret !== undefined) secrets.push(secret, secret.replace("whsec_", ""))
      if (webhookUrl !== undefined) secrets.push(webhookKeyOf(webhookUrl))
      return { id: String(id), webhookUrl: String(webhookUrl) }
    }
    const jiraIntegration = await createIntegration(minimalJira)
    const driveIntegration = await createIntegration(minimalDrive)
    const webhookIntegration = await createIntegration({
      provider: "WEBHOOK",
      name: "Webhook",
      config: { url: receiver.url }
    })
    const natsIntegration = await createIntegration(minimalNats)
    for (const { id } of [webhookIntegration, natsIntegration])
      for (const eventType of ["integration.*", "invoice.*", "issue.*"]) await client.mustSubscribe(id, { eventType })
    await client.mustSubscribe(driveIntegration.id, { eventType: "invoice.finalized" })

    await authorize(jiraIntegration.id)
    await authorize(driveIntegration.id)
    await register(jiraIntegration.id)
    await send(webhookKeyOf(jiraIntegration.webhookUrl))
    await expire(driveIntegration.id)
    await deliver(driveIntegration.id, webhookIntegration.id)
    await waitForDelivery(natsIntegration.id)
    for (const { id } of [jiraIntegration, webhookIntegration]) {
      const { body } = await client.rotate(id)
      secrets.push(body.data.secret ?? webhookKeyOf(body.data.webhookUrl))
    }
    await readEverything()

    oauthProvider.overrideResponse("/revoke", {
      status: 500,
      body: { error_description: `echo ${oauthProvider.issued.join(" ")}` }
    })
    jira.intercept(echoToken(500))
    for (const { id } of [jiraIntegration, driveIntegration]) assert.strictEqual((await client.remove(id)).status, 204)
    await eventually(() => oauthProvider.requestsTo("/revoke").length > 0, "the token is revoked")
    await readEverything()
    secrets.push(
      ...oauthProvider.issued,
      ...oauthProvider.requests.flatMap(({ fields }) => fields["code_verifier"] ?? [])
    )
    assert.isAbove(new Set(secrets).size, 20)
  })

  it("are found by the leak search in every encoding", () => {
    const [secret = ""] = secrets
    const texts = ["", "a", "ab"].flatMap((before) => [
      `${before}${secret}`,
      Buffer.from(`${before}${secret}, and more`).toString("base64"),
      Buffer.from(`${before}${secret}`).toString("hex")
    ])
    for (const text of texts) assert.deepStrictEqual(findLeaks(text, secrets), [secret], text)
    assert.isTrue(secrets.every((one) => encodingsOf(one).every((form) => form.length >= 16)))
  })

  const assertNoLeak = (searched: ReadonlyArray<string>, expected: string) => {
    assert.isTrue(
      searched.some((text) => text.includes(expected)),
      `${expected} is in the searched texts`
    )
    const leaking = searched.flatMap((text) =>
      findLeaks(text, [...new Set(secrets)]).map((secret) => `${secret} in ${text}`)
    )
    assert.deepStrictEqual(
      leaking.map((leak) => leak.slice(0, 600)),
      []
    )
  }

  it("do not appear in logs", () => {
    assertNoLeak([...service.logs, ...workers.flatMap(({ lines }) => lines), ...reconcilerLines], "echo 500")
  })

  it("do not appear in responses or metrics", () => assertNoLeak(responses, "echo 400"))

  it("are not stored in plain text in any table", () => {
    assertNoLeak(rows, "NORTH-318")
    assertNoLeak(
      rows.filter((row) => row.startsWith("delivery_attempts ")),
      "echo 500"
    )
  })

  it("do not appear in NATS messages", async () => {
    assertNoLeak(await dumpMessages(inject("natsUrl"), service.database.name), "invoice.finalized")
  })
})
