import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import sharp from "sharp"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { settingRows } from "../src/help.ts"
import { startReceiver } from "./support/servers/receiver.ts"
import { type Service, startService } from "./support/servers/service.ts"
import { eventually, startWorker } from "./support/servers/worker.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const between = (name: string) => readme.split(`<!-- ${name} -->\n`)[1]?.split(`<!-- /${name} -->`)[0]

const shellUnder = (heading: string) =>
  readme.split(`## ${heading}\n`)[1]?.split("\n## ")[0]?.split("```sh\n")[1]?.split("```")[0] ?? ""

const run = promisify(execFile)

describe("The README", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  it("lists every setting with its default", () => {
    const table = [
      "| setting | unless set | meaning |",
      "|---|---|---|",
      ...settingRows.map(({ description, defaultValue, name }) => {
        return `| \`${name}\` | ${defaultValue === "" ? "" : `\`${defaultValue}\``} | ${description} |`
      }),
      ""
    ].join("\n")
    assert.strictEqual(between("settings"), table)
  })

  it("has working commands for the first five minutes, images and events", { timeout: 90_000 }, async () => {
    const receiver = await startReceiver()
    const workers = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
    onTestFinished(async () => {
      await Promise.all(workers.map(({ stop }) => stop()))
      await receiver.stop()
    })
    const pdf = join(service.dataDir, "invoice.pdf")
    const logo = join(service.dataDir, "mine.png")
    const served = join(service.dataDir, "served.png")
    await sharp({ create: { width: 40, height: 20, channels: 3, background: "#1f6f54" } }).toFile(logo)
    const script = ["The first five minutes", "Images", "Events and integrations"]
      .map(shellUnder)
      .join("\n")
      .replaceAll("https://books.example.com/hook", receiver.url)
      .replaceAll("http://localhost:3000", service.url)
      .replaceAll("/tmp/invoice.pdf", pdf)
      .replaceAll("/tmp/logo.png", served)
      .replaceAll("LOGO=logo.png", `LOGO=${logo}`)
    const env = { ...process.env, DATA_DIR: service.dataDir }
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], {
      env,
      cwd: new URL("..", import.meta.url)
    })
    const responses = stdout
      .replaceAll("}{", "}\n{")
      .split("\n")
      .map((line) => JSON.parse(line))
    const [changed, list, first, again, invalid, member, lines, invoice, explained, pending, ready, branded] = responses
    const [wide, narrow, ping, paused, described, resumed, , redelivered, feed] = responses.slice(12)
    assert.deepInclude(changed.data, { name: "Northwind", order: 1, description: "Pumps and valves" })
    assert.deepStrictEqual(list.data, [changed.data])
    assert.strictEqual(first.data.name, "Southwind")
    assert.deepStrictEqual(again, first)
    assert.sameMembers(
      invalid.details.map(({ field }: { field: string }) => field),
      ["name", "order", "colour"]
    )
    assert.deepInclude(member.data, { subject: "bob", role: "MEMBER" })
    assert.deepStrictEqual(
      lines.data.map(({ lineTotalMinor }: { lineTotalMinor: number }) => lineTotalMinor),
      [22_000, 7980]
    )
    assert.deepInclude(invoice.data, { status: "FINALIZED", totalMinor: 29_980 })
    assert.strictEqual(explained.data.lines[1].runningTotalMinor, 29_980)
    assert.strictEqual(readFileSync(pdf, "latin1").slice(0, 5), "%PDF-")
    assert.deepStrictEqual([pending.data.status, ready.data.status], ["PENDING", "READY"])
    assert.deepInclude(branded.data.media[0], { slot: "logo", assetId: ready.data.assetId, status: "READY" })
    assert.isTrue(readFileSync(served).equals(readFileSync(logo)))
    assert.deepStrictEqual([wide.data.scopeKey, narrow.data.scopeKey], ["tenant", `client:${changed.data.id}`])
    assert.deepStrictEqual([paused.data.status, resumed.data.status], ["PAUSED", "ACTIVE"])
    assert.deepStrictEqual(redelivered.data, { redelivered: 0, isComplete: true })
    assert.deepInclude(feed.data[0], { type: "client.updated", sequence: 2, client: changed.data.id })
    await eventually(
      () => receiver.received.length === 2,
      "the receiver gets the ping and the event that was kept during the pause"
    )
    assert.deepStrictEqual(
      receiver.received.map(({ text }) => JSON.parse(text)).map(({ data, id, type }) => [type, data.description ?? id]),
      [
        ["integration.ping", ping.data.id],
        ["client.updated", described.data.description]
      ]
    )
    assert.strictEqual(responses.length, 21)
  })
})
