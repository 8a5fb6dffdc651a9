import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type StandIns, startStandIns } from "../../examples/walkthrough/standIns.ts"
import { makeStep } from "../../examples/walkthrough/steps.ts"
import { walk } from "../../examples/walkthrough/walk.ts"
import { sendDriveError } from "../support/servers/googleDrive.ts"
import { sendJson } from "../support/servers/jsonServer.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { type RunningWorker, startWorker } from "../support/servers/worker.ts"

describe("walk of examples/walkthrough", { timeout: 60_000 }, () => {
  let service: Service
  let standIns: StandIns
  let workers: ReadonlyArray<RunningWorker>
  let output: Array<string>
  beforeAll(async () => {
    standIns = await startStandIns()
    const port = await findClosedPort()
    service = await startService({ ...standIns.settingsFor(`http://127.0.0.1:${port}`), PORT: String(port) })
    workers = await Promise.all(
      (["relay", "delivery", "intake", "janitor"] as const).map((name) => startWorker(service, name))
    )
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await service.stop()
    await standIns.stop()
  })
  beforeEach(() => {
    output = []
    standIns.consent.overrideResponse("/token", undefined)
    for (const { intercept: meet } of [standIns.tracker, standIns.drive]) meet(undefined)
    standIns.tracker.webhooks.clear()
    standIns.drive.files.clear()
    standIns.receiver.received.length = 0
    standIns.receiver.respondWith((_, response) => response.end())
  })

  const walkAndFail = async (seconds = 30) => {
    const options = { url: service.url, token: await service.token("alice"), standIns, seconds }
    const error: unknown = await walk({ ...options, step: makeStep((line) => void output.push(line)) }).then(
      () => assert.fail(`the walk-through succeeded:\n${output.join("\n")}`),
      (error) => error
    )
    const step = output.find((line) => line.startsWith("✗"))?.split(" ")[1]
    return { step, message: error instanceof Error ? error.message : "" }
  }

  it("fails in the tracker step when the provider rejects the authorization", async () => {
    standIns.consent.overrideResponse("/token", { status: 400, body: { error: "invalid_grant" } })
    assert.deepStrictEqual(await walkAndFail(), { step: "tracker", message: "Nothing was authorized: provider_error" })
  })

  it("fails in the pdf step when the drive is full", async () => {
    standIns.drive.intercept((request, response) => {
      if (request.method === "GET") return false
      sendDriveError(response, 403, "storageQuotaExceeded")
      return true
    })
    const { message, step } = await walkAndFail()
    assert.strictEqual(step, "pdf")
    assert.include(message, "The drive is full")
  })

  it("fails in the webhook step when the body does not match its signature", async () => {
    standIns.receiver.respondWith((received, response) => {
      Object.assign(received, { text: received.text.replace("FINALIZED", "PAID") })
      response.end()
    })
    const { message, step } = await walkAndFail()
    assert.deepStrictEqual([step, message], ["webhook", "No matching signature found"])
  })

  // Last, because the service registers this webhook later, and another test would take it for its own.
  it("fails in the issue step when Jira rejects the registration of webhooks", async () => {
    standIns.tracker.intercept((request, response) => {
      if (request.url.pathname.startsWith("/oauth/")) return false
      sendJson(response, 503, {})
      return true
    })
    const { message, step } = await walkAndFail(1)
    assert.deepStrictEqual([step, message], ["issue", "Not within 1 s: the service registers with the tracker"])
  })
})
