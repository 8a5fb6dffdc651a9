import { spawn } from "node:child_process"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { blocksOf, sectionOf, shellOf } from "../support/assertions/docs.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

describe("The commands of docs/webhooks.md", { timeout: 90_000 }, () => {
  let service: Service
  let workers: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    service = await startService({})
    // The receiver is written to a folder outside of the project.
    symlinkSync(join(projectRoot, "node_modules"), join(service.dataDir, "node_modules"), "dir")
    workers = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await service.stop()
  })

  /** A shell that stays open, as a terminal does. `run` returns what the commands have printed. */
  const openShell = async () => {
    const port = await findClosedPort()
    const shell = spawn("bash", ["-euo", "pipefail"], {
      cwd: projectRoot,
      env: { ...process.env, DATA_DIR: service.dataDir },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true
    })
    // The group contains the receiver in the background.
    onTestFinished(() => {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL")
    })
    const lines: Array<string> = []
    createInterface(shell.stdout).on("line", (line) => lines.push(line))
    let count = 0
    const run = async (commands: string) => {
      const [end, start] = [`end of commands ${++count}`, lines.length]
      const local = commands
        .replaceAll("http://localhost:3000", service.url)
        .replaceAll(".data/", `${service.dataDir}/`)
        .replaceAll("4000", String(port))
      shell.stdin.write(`${local}\necho '${end}'\n`)
      await eventually(() => lines.includes(end) || shell.exitCode !== null, `the shell runs ${commands}`)
      assert.isNull(shell.exitCode, `the shell ended in ${commands}`)
      return lines
        .slice(start, lines.indexOf(end))
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line))
    }
    const isListening = () => lines.includes("listening")
    const received = (type: string) => lines.filter((line) => line.startsWith(`received ${type}: `))
    return { run, isListening, received, port }
  }

  it("lead from a token to received webhooks, and manage the integration", async () => {
    const { isListening, port, received, run } = await openShell()
    const [shell, create, receiver, start, ping, cause, list, stop, ...more] = blocksOf(
      sectionOf("docs/webhooks.md", "Your first webhook"),
      "sh"
    )
    assert.lengthOf(more, 0)
    for (const commands of [shell, create, receiver, start]) await run(commands ?? "")
    await eventually(isListening, "the receiver listens")
    await run(ping ?? "")
    await eventually(() => received("integration.ping").length === 1, "the receiver prints the ping")
    await run(cause ?? "")
    await eventually(() => received("client.created").length === 1, "the receiver prints the event")
    assert.include(received("client.created")[0], '"name":"Northwind"')
    const forged = { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,AA==" }
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers: forged, body: "{}" })
    assert.strictEqual(answer.status, 401)
    const [deliveries] = await run(list ?? "")
    assert.lengthOf(deliveries.data, 2)

    const [wide, narrow, subscriptions] = await run(shellOf("docs/webhooks.md", "Subscriptions"))
    assert.deepStrictEqual([wide.data.scopeKey, narrow.data.scopeKey], ["tenant", `client:${narrow.data.clientId}`])
    assert.lengthOf(subscriptions.data, 3)

    const [paused, described, resumed] = await run(shellOf("docs/webhooks.md", "Pause and resume"))
    assert.deepStrictEqual([paused.data.status, resumed.data.status], ["PAUSED", "ACTIVE"])
    await eventually(() => received("client.updated").length === 1, "the receiver prints the event of the pause")
    assert.include(received("client.updated")[0], described.data.description)

    assert.isEmpty(await run(shellOf("docs/webhooks.md", "Signatures")))
    const [exhausted, redelivered] = await run(shellOf("docs/webhooks.md", "Deliveries and retries"))
    assert.isEmpty(exhausted.data)
    assert.deepStrictEqual(redelivered.data, { redelivered: 0, isComplete: true })
    const [feed] = await run(shellOf("docs/webhooks.md", "The feed"))
    assert.includeMembers(
      feed.data.map(({ type }: { type: string }) => type),
      ["client.updated", "integration.paused"]
    )
    await run(stop ?? "")
  })
})
