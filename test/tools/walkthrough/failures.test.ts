import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type FakeServers, startFakeServers } from "../../../tools/walkthrough/fakeServers.ts"
import { makeStep } from "../../../tools/walkthrough/steps.ts"
import { walk } from "../../../tools/walkthrough/walk.ts"
import { sendDriveError } from "../../support/servers/googleDrive.ts"
import { sendJson } from "../../support/servers/jsonServer.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { type RunningWorker, startWorker } from "../../support/servers/worker.ts"

describe("walk of tools/walkthrough", { timeout: 60_000 }, () => {
  let service: Service
  let fakes: FakeServers
  let workers: ReadonlyArray<RunningWorker>
  let output: Array<string>
  beforeAll(async () => {
    fakes = await startFakeServers()
    const port = await findClosedPort()
    service = await startService({ ...fakes.settingsFor(`http://127.0.0.1:${port}`), PORT: String(port) })
    workers = await Promise.all(
      (["relay", "delivery", "intake", "janitor"] as const).map((name) => startWorker(service, name))
    )
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await service.stop()
    await fakes.stop()
  })
  beforeEach(() => {
    output = []
    fakes.consent.overrideResponse("/token", undefined)
    for (const { intercept } of [fakes.jira, fakes.drive]) intercept(undefined)
    fakes.jira.webhooks.clear()
    fakes.drive.files.clear()
    fakes.receiver.received.length = 0
    fakes.receiver.respondWith((_, response) => response.end())
  })

  const walkAndFail = async (timeoutSeconds = 30) => {
    const options = { url: service.url, token: await service.token("alice"), fakes, timeoutSeconds }
    const error: unknown = await walk({ ...options, step: makeStep((line) => void output.push(line)) }).then(
      () => assert.fail(`the walk-through succeeded:\n${output.join("\n")}`),
      (error) => error
    )
    const step = output.find((line) => line.startsWith("✗"))?.split(" ")[1]
    return { step, message: error instanceof Error ? error.message : "" }
  }

  it("fails in the tracker step when the provider rejects the authorization", async () => {
    fakes.consent.overrideResponse("/token", { status: 400, body: { error: "invalid_grant" } })
    assert.deepStrictEqual(await walkAndFail(), { step: "tracker", message: "Nothing was authorized: provider_error" })
  })

  it("fails in the pdf step when the drive is full", async () => {
    fakes.drive.intercept((request, response) => {
      if (request.method === "GET") return false
      sendDriveError(response, 403, "storageQuotaExceeded")
      return true
    })
    const { message, step } = await walkAndFail()
    assert.strictEqual(step, "pdf")
    assert.include(message, "Google Drive is full")
  })

  it("fails in the webhook step when the body does not match its signature", async () => {
    fakes.receiver.respondWith((received, response) => {
      Object.assign(received, { text: received.text.replace("FINALIZED", "PAID") })
      response.end()
    })
    const { message, step } = await walkAndFail()
    assert.deepStrictEqual([step, message], ["webhook", "No matching signature found"])
  })

  // Last, because the service registers this webhook later, and another test would take it for its own.
  it("fails in the issue step when Jira rejects the registration of webhooks", async () => {
    fakes.jira.intercept((request, response) => {
      if (request.url.pathname.startsWith("/oauth/")) return false
      sendJson(response, 503, {})
      return true
    })
    const { message, step } = await walkAndFail(1)
    assert.deepStrictEqual([step, message], ["issue", "Not within 1 s: the service registers with the tracker"])
  })
})
