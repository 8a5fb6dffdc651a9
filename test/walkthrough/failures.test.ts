import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type StandIns, startStandIns } from "../../examples/walkthrough/standIns.ts"
import { makeStep } from "../../examples/walkthrough/steps.ts"
import { walk } from "../../examples/walkthrough/walk.ts"
import { sendDriveError } from "../support/servers/googleDrive.ts"
import { answerJson } from "../support/servers/jsonServer.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { type RunningWorker, startWorker } from "../support/servers/worker.ts"

describe("the walk-through, when something is broken,", { timeout: 60_000 }, () => {
  let service: Service
  let standIns: StandIns
  let workers: ReadonlyArray<RunningWorker>
  let said: Array<string>
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
    said = []
    standIns.consent.answer("/token", undefined)
    for (const { meet } of [standIns.tracker, standIns.drive]) meet(undefined)
    standIns.tracker.hooks.clear()
    standIns.drive.files.clear()
    standIns.receiver.received.length = 0
    standIns.receiver.answer((_, response) => response.end())
  })

  const failure = async (seconds = 30) => {
    const way = { url: service.url, token: await service.token("alice"), standIns, seconds }
    const error: unknown = await walk({ ...way, step: makeStep((line) => void said.push(line)) }).then(
      () => assert.fail(`it went through:\n${said.join("\n")}`),
      (error) => error
    )
    const at = said.find((line) => line.startsWith("✗"))?.split(" ")[1]
    return { at, why: error instanceof Error ? error.message : "" }
  }

  it("stops at an authorization that comes to nothing", async () => {
    standIns.consent.answer("/token", { status: 400, body: { error: "invalid_grant" } })
    assert.deepStrictEqual(await failure(), { at: "tracker", why: "Nothing was authorized: provider_error" })
  })

  it("stops when the tracker is told of nobody", async () => {
    standIns.tracker.meet((asked, response) => {
      if (asked.url.pathname.startsWith("/oauth/")) return false
      answerJson(response, 503, {})
      return true
    })
    const { at, why } = await failure(3)
    assert.deepStrictEqual([at, why], ["issue", "Not within 3 s: the service registers with the tracker"])
  })

  it("stops when the drive is full", async () => {
    standIns.drive.meet((asked, response) => {
      if (asked.method === "GET") return false
      sendDriveError(response, 403, "storageQuotaExceeded")
      return true
    })
    const { at, why } = await failure()
    assert.strictEqual(at, "pdf")
    assert.include(why, "The drive is full")
  })

  it("stops at a webhook that somebody has changed on its way", async () => {
    standIns.receiver.answer((received, response) => {
      Object.assign(received, { text: received.text.replace("FINALIZED", "PAID") })
      response.end()
    })
    const { at, why } = await failure()
    assert.deepStrictEqual([at, why], ["webhook", "No matching signature found"])
  })
})
