import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { connectApi } from "../../tools/walkthrough/api.ts"
import { type FakeServers, startFakeServers } from "../../tools/walkthrough/fakeServers.ts"
import { authorize } from "../../tools/walkthrough/integrations.ts"
import { sendIssue, waitForIssue } from "../../tools/walkthrough/issues.ts"
import { shellOf } from "../support/assertions/docs.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { runFirstMinutes, runJsonShell } from "../support/servers/shell.ts"
import { type RunningWorker, startWorker } from "../support/servers/worker.ts"

describe("The commands of docs/jira.md and docs/google-drive.md", { timeout: 90_000 }, () => {
  let service: Service
  let fakes: FakeServers
  let workers: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    fakes = await startFakeServers()
    const port = await findClosedPort()
    service = await startService({ ...fakes.settingsFor(`http://127.0.0.1:${port}`), PORT: String(port) })
    workers = [await startWorker(service, "intake"), await startWorker(service, "janitor")]
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await service.stop()
    await fakes.stop()
  })

  it("create the integrations, bill an issue and list and replay its webhook", async () => {
    const { shell } = await runFirstMinutes(service)
    const file = join(service.dataDir, "jira")
    const created = await runJsonShell(service, [
      shell,
      shellOf("docs/google-drive.md"),
      shellOf("docs/jira.md", "Set it up"),
      `declare -p JIRA TENANT > ${file}`
    ])
    const [subscription, { data: tracker }] = created
    assert.deepInclude(subscription.data, { eventType: "invoice.finalized", scopeKey: "tenant" })
    assert.deepInclude(tracker, { provider: "JIRA", status: "PENDING_AUTH", isAuthorized: false })

    const tenant = /TENANT="(\w+)"/.exec(readFileSync(file, "utf8"))?.[1]
    const api = connectApi(service.url, await service.token("alice"), tenant)
    await authorize(api, tracker)
    await sendIssue(fakes, "NORTH-7", "Replace the valve", 30)
    await waitForIssue(api, tracker, "NORTH-7", 30)

    const [issues, lines, stale, replayed, ...more] = await runJsonShell(service, [
      shell,
      `source ${file}`,
      shellOf("docs/jira.md", "Receive and bill issues")
    ])
    assert.lengthOf(more, 0)
    assert.deepInclude(issues.data[0], { issueKey: "NORTH-7", projectKey: "NORTH" })
    assert.deepInclude(lines.data[0], { name: "NORTH-7: Replace the valve", lineTotalMinor: 18_000 })
    assert.deepStrictEqual(stale.data, [])
    assert.deepInclude(replayed.data, { issueKey: "NORTH-7", status: "RECEIVED" })
  })
})
