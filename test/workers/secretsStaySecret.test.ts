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
import { type Asked, answerJson, bearerOf } from "../support/servers/jsonServer.ts"
import { clientSecret, type OAuthProviderServer, startOAuthProvider } from "../support/servers/oauthProvider.ts"
import { type Receiver, startReceiver } from "../support/servers/receiver.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

const site = { id: "site-1", name: "One", url: "https://one.example.test" }

/** Answers with all it was told, the token among it, in every place somebody might quote. */
const echo = (status: number) => (asked: Asked, response: ServerResponse) => {
  const message = `echo ${status} ${asked.headers.authorization}`
  answerJson(response, status, { message, errorMessages: [message], error: { message } })
  return true
}

describe("whatever goes wrong, what is secret", { timeout: 120_000 }, () => {
  let server: OAuthProviderServer
  let tracker: JiraServer
  let drive: GoogleDriveServer
  let receiver: Receiver
  let service: Service
  let pool: pg.Pool
  const workers: Array<RunningWorker> = []
  let tenant: string
  let ours: AuthorizationClient
  const secrets = [clientSecret]
  const answers: Array<string> = []
  const upkeepLines: Array<string> = []
  const rows: Array<string> = []

  /** Every answer is looked at, but for those that are there to show a secret once. */
  const listening = (heard: Service): Service => ({
    ...heard,
    api: async (method, path, options) => {
      const answer = await heard.api(method, path, options)
      const showsSecret = method === "POST" && (path === "/integrations" || path.endsWith("/rotate-secret"))
      if (!showsSecret) answers.push(JSON.stringify([...answer.headers]), answer.text)
      return answer
    }
  })

  const behave = () => {
    tracker.trust(() => true)
    tracker.meet((asked, response) => {
      if (asked.url.pathname !== "/oauth/token/accessible-resources") return false
      answerJson(response, 200, [site])
      return true
    })
    drive.meet((asked) => {
      drive.rotate(bearerOf(asked))
      return false
    })
    server.answer("/token", undefined)
  }

  beforeAll(async () => {
    server = await startOAuthProvider()
    tracker = await startJira()
    drive = await startGoogleDrive("folder-1")
    receiver = await startReceiver()
    service = listening(
      await startService({ ...server.environment, JIRA_API_URL: tracker.url, GOOGLE_API_URL: drive.url })
    )
    pool = openPool(service.database.url)
    for (const name of ["relay", "delivery", "intake"] as const) workers.push(await startWorker(service, name))
    tenant = await service.newTenant()
    ours = authorizationClient(service, server, tenant)
    behave()
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await pool.end()
    await service.stop()
    for (const { stop } of [receiver, drive, tracker, server]) await stop()
  })

  /** Somebody consents, and the token endpoint repeats the code and our secret in its refusal; then it does not. */
  const authorize = async (id: string) => {
    for (const [status, error] of [
      [400, "invalid_grant"],
      [400, "invalid_request"],
      [500, "server_error"]
    ] as const) {
      const { code, state } = await ours.consented(id)
      secrets.push(code)
      server.answer("/token", { status, body: { error, error_description: `echo ${code} ${clientSecret}` } })
      await ours.callback({ code, state }, "owner")
    }
    behave()
    const { code, state } = await ours.consented(id)
    secrets.push(code)
    const page = await ours.callback({ code, state })
    assert.strictEqual(page.status, 200, page.text)
    await ours.callback(await ours.consented(id), "owner")
    assert.isTrue((await ours.shown(id)).isAuthorized)
  }

  const rounds = async (many: number) => {
    const upkeep = startReconciler(service, upkeepLines)
    for (let n = 0; n < many; n++) await upkeep.round()
    await upkeep.stop()
  }

  const expire = (id: string) => pool.query("update grants set expires_at = now() where integration_id = $1", [id])

  /** A tracker that refuses, one that fails, a refresh that fails, and at last a webhook that is registered. */
  const register = async (id: string) => {
    tracker.meet(echo(400))
    await rounds(3)
    assert.include((await ours.shown(id)).statusReason, "echo 400", "what a tracker says is told")
    await ours.move(id, "resume")
    tracker.meet(echo(500))
    await rounds(1)
    behave()
    await expire(id)
    const refreshToken = server.issued.at(-1)
    server.answer("/token", { status: 500, body: { error: "server_error", error_description: `echo ${refreshToken}` } })
    await rounds(1)
    behave()
    await rounds(1)
    assert.isAbove(tracker.at(site.id).length, 0)
    // Before, it would have looked after the webhook itself.
    workers.push(await startWorker(service, "janitor"))
  }

  const send = async (key: string) => {
    const bearer = await signJiraToken({ iat: Math.floor(Date.now() / 1000), jti: "planted" }, clientSecret)
    secrets.push(bearer)
    const [hook] = tracker.at(site.id)
    const webhook = makeWebhookBody("created", { webhookIds: [hook?.id ?? 0] })
    const sent = await jiraSender(service).send(key, webhook, { as: bearer })
    assert.deepStrictEqual(sent.body, { data: { accepted: true } })
    await jiraSender(service).send(key, { nothing: true }, { as: bearer })
    await jiraSender(service).send(key, webhook, { as: `${bearer}x` })
    await eventually(async () => {
      const { rows: worked } = await pool.query("select 1 from inbound_webhooks where status = 'DONE'")
      return worked.length === 1
    }, "the webhook is worked")
  }

  const attemptsTo = async (id: string) => {
    const { rows: found } = await pool.query<{ body: string | null }>(
      `select a.response_body as body from delivery_attempts a join deliveries d on d.tenant_id = a.tenant_id and d.id = a.delivery_id
       where d.integration_id = $1 order by a.attempted_at`,
      [id]
    )
    return found
  }
  const hurry = () =>
    pool.query("update deliveries set next_attempt_at = now() where status = 'PENDING' and lease is null")
  const tried = (id: string, times: number) =>
    eventually(async () => {
      await hurry()
      return (await attemptsTo(id)).length >= times
    }, `${times} attempts`)
  const delivered = (id: string) =>
    eventually(async () => {
      await hurry()
      const { body } = await ours.call("GET", `/${id}/deliveries?status=DELIVERED`)
      return body.data.length > 0
    }, "it is delivered")

  /** A drive and a receiver that fail in every way and repeat what they were told, and then do not. */
  const deliver = async (drives: string, hooks: string) => {
    receiver.answer(({ headers }, response) => response.writeHead(500).end(`echo ${JSON.stringify(headers)}`))
    drive.meet(echo(400))
    await invoiceClient(service, tenant).invoiceIn("FINALIZED")
    await tried(drives, 1)
    drive.meet(echo(500))
    await tried(drives, 2)
    drive.meet(echo(401))
    await tried(drives, 3)
    assert.isTrue((await attemptsTo(drives)).every(({ body }) => body?.includes("echo") !== false))
    behave()
    await delivered(drives)
    await tried(hooks, 2)
    receiver.answer((_, response) => response.end("{}"))
    await delivered(hooks)
  }

  const look = async () => {
    for (const path of ["/integrations", "/events?limit=200"]) await service.api("GET", path, { as: "owner", tenant })
    const { body } = await ours.call("GET", "")
    for (const { id } of body.data) {
      for (const list of ["deliveries", "inbound", "issues"]) {
        const listed = await ours.call("GET", `/${id}/${list}`)
        for (const one of listed.body?.data ?? []) await ours.call("GET", `/${id}/${list}/${one.id}`)
      }
    }
    answers.push(await (await fetch(`${service.url}/metrics`)).text())
    rows.push(...(await dumpTables(pool)))
  }

  it("is used in every way there is", async () => {
    const made = async (fields: object) => {
      const { body } = await ours.create(fields, { "idempotency-key": JSON.stringify(fields) })
      const { id, secret, webhookUrl } = body.data
      if (secret !== undefined) secrets.push(secret, secret.replace("whsec_", ""))
      if (webhookUrl !== undefined) secrets.push(webhookKeyOf(webhookUrl))
      return { id: String(id), webhookUrl: String(webhookUrl) }
    }
    const jira = await made(minimalJira)
    const drives = await made(minimalDrive)
    const hooks = await made({ provider: "WEBHOOK", name: "Hook", config: { url: receiver.url } })
    const stream = await made(minimalNats)
    for (const { id } of [hooks, stream])
      for (const eventType of ["integration.*", "invoice.*", "issue.*"]) await ours.madeSubscription(id, { eventType })
    await ours.madeSubscription(drives.id, { eventType: "invoice.finalized" })

    await authorize(jira.id)
    await authorize(drives.id)
    await register(jira.id)
    await send(webhookKeyOf(jira.webhookUrl))
    await expire(drives.id)
    await deliver(drives.id, hooks.id)
    await delivered(stream.id)
    for (const { id } of [jira, hooks]) {
      const { body } = await ours.rotate(id)
      secrets.push(body.data.secret ?? webhookKeyOf(body.data.webhookUrl))
    }
    await look()

    server.answer("/revoke", { status: 500, body: { error_description: `echo ${server.issued.join(" ")}` } })
    tracker.meet(echo(500))
    for (const { id } of [jira, drives]) assert.strictEqual((await ours.remove(id)).status, 204)
    await eventually(() => server.askedFor("/revoke").length > 0, "the grant is given back")
    await look()
    secrets.push(...server.issued, ...server.asked.flatMap(({ fields }) => fields["code_verifier"] ?? []))
    assert.isAbove(new Set(secrets).size, 20)
  })

  it("would be found", () => {
    const [secret = ""] = secrets
    const hidden = ["", "a", "ab"].flatMap((before) => [
      `${before}${secret}`,
      Buffer.from(`${before}${secret}, and more`).toString("base64"),
      Buffer.from(`${before}${secret}`).toString("hex")
    ])
    for (const text of hidden) assert.deepStrictEqual(findLeaks(text, secrets), [secret], text)
    assert.isTrue(secrets.every((one) => encodingsOf(one).every((form) => form.length >= 16)))
  })

  const assertNoLeak = (places: ReadonlyArray<string>, expected: string) => {
    assert.isTrue(
      places.some((place) => place.includes(expected)),
      `${expected} is there`
    )
    const leaking = places.flatMap((place) =>
      findLeaks(place, [...new Set(secrets)]).map((secret) => `${secret} in ${place}`)
    )
    assert.deepStrictEqual(
      leaking.map((leak) => leak.slice(0, 600)),
      []
    )
  }

  it("is logged by nobody", () => {
    assertNoLeak([...service.logs, ...workers.flatMap(({ lines }) => lines), ...upkeepLines], "echo 500")
  })

  it("is told to nobody", () => assertNoLeak(answers, "echo 400"))

  it("lies in no table in the clear", () => {
    assertNoLeak(rows, "NORTH-318")
    assertNoLeak(
      rows.filter((row) => row.startsWith("delivery_attempts ")),
      "echo 500"
    )
  })

  it("is in no message of the broker", async () => {
    assertNoLeak(await dumpMessages(inject("natsUrl"), service.database.name), "invoice.finalized")
  })
})
