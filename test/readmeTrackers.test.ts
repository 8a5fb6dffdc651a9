import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { connectApi } from "../examples/walkthrough/api.ts"
import { type FakeServers, startFakeServers } from "../examples/walkthrough/fakeServers.ts"
import { authorize } from "../examples/walkthrough/integrations.ts"
import { sendIssue, waitForIssue } from "../examples/walkthrough/issues.ts"
import { findClosedPort } from "./support/servers/proxy.ts"
import { type Service, startService } from "./support/servers/service.ts"
import { type RunningWorker, startWorker } from "./support/servers/worker.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const shellUnder = (heading: string) =>
  readme
    .split(`# ${heading}\n`)[1]
    ?.split(/\n##+ /)[0]
    ?.split("```sh\n")[1]
    ?.split("```")[0] ?? ""

describe("The README's Jira and Google Drive commands", { timeout: 90_000 }, () => {
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

  const bash = async (...commands: ReadonlyArray<string>) => {
    const script = commands
      .join("\n")
      .replaceAll("http://localhost:3000", service.url)
      .replaceAll("/tmp/invoice.pdf", join(service.dataDir, "invoice.pdf"))
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      env: { ...process.env, DATA_DIR: service.dataDir },
      cwd: new URL("..", import.meta.url)
    })
    return stdout
      .replaceAll("}{", "}\n{")
      .split("\n")
      .map((line) => JSON.parse(line))
  }

  it("create the integrations, bill an issue and list and replay its webhook", async () => {
    const shell = join(service.dataDir, "shell")
    const created = await bash(
      shellUnder("The first five minutes"),
      shellUnder("Setting it up"),
      `{ declare -p API TOKEN TENANT CONTRACT TRACKER; declare -f api field; } > ${shell}`
    )
    const [subscription, { data: tracker }] = created.slice(-2)
    assert.deepInclude(subscription.data, { eventType: "invoice.finalized", scopeKey: "tenant" })
    assert.deepInclude(tracker, { provider: "JIRA", status: "PENDING_AUTH", isAuthorized: false })

    const tenant = /TENANT="(\w+)"/.exec(readFileSync(shell, "utf8"))?.[1]
    const api = connectApi(service.url, await service.token("alice"), tenant)
    await authorize(api, tracker)
    await sendIssue(fakes, "NORTH-7", "Replace the valve", 30)
    await waitForIssue(api, tracker, "NORTH-7", 30)

    const [issues, lines, stale, replayed, ...more] = await bash(`source ${shell}`, shellUnder("Issues"))
    assert.lengthOf(more, 0)
    assert.deepInclude(issues.data[0], { issueKey: "NORTH-7", projectKey: "NORTH" })
    assert.deepInclude(lines.data[0], { name: "NORTH-7: Replace the valve", lineTotalMinor: 18_000 })
    assert.deepStrictEqual(stale.data, [])
    assert.deepInclude(replayed.data, { issueKey: "NORTH-7", status: "RECEIVED" })
  })
})
