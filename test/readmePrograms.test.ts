import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { makeProgramFolder, type ProgramFolder } from "./support/servers/programFolder.ts"
import { findClosedPort } from "./support/servers/proxy.ts"
import { type Service, startService } from "./support/servers/service.ts"
import { eventually } from "./support/servers/worker.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const blocksUnder = (heading: string) =>
  [...(readme.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/```(\w+)\n(.*?)```/gs)].map(
    ([, language, text = ""]) => ({ language, text })
  )

const receiver = blocksUnder("Events and integrations").find(({ language }) => language === "ts")?.text ?? ""

describe("The README", () => {
  let service: Service
  let folder: ProgramFolder
  let errors: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService()
    folder = makeProgramFolder()
    const blocks = blocksUnder("A typed client")
    assert.deepStrictEqual(
      blocks.map(({ language }) => language),
      ["ts", "sh", "ts"]
    )
    const [effect = "", generate = "", generated = ""] = blocks.map(({ text }) =>
      text.replaceAll("http://localhost:3000", service.url)
    )
    await folder.shell(generate)
    folder.write("effectClient.ts", effect)
    folder.write("generatedClient.ts", generated)
    folder.write("receiver.ts", receiver)
    errors = await folder.typeFaults()
  }, 120_000)
  afterAll(async () => {
    folder.remove()
    await service.stop()
  })

  it("has typed clients and a webhook receiver that compile", () => {
    assert.deepStrictEqual(errors, [])
  })

  it("has typed clients that print the expected output", async () => {
    const env = { TOKEN: await service.token("alice") }
    const [effect, generated] = await Promise.all([
      folder.run("effectClient.ts", env),
      folder.run("generatedClient.ts", env)
    ])
    assert.strictEqual(effect, "Northwind is gone\n")
    assert.match(generated, /field: 'order',\s+message: 'must be at least 0'/)
  })

  it("has a webhook receiver that accepts signed webhooks and rejects others", async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`
    const port = await findClosedPort()
    const env = { ...process.env, SECRET: secret, PORT: String(port) }
    const child = spawn(process.execPath, [folder.build("receiver.ts")], { env, stdio: ["ignore", "pipe", "inherit"] })
    onTestFinished(() => void child.kill("SIGKILL"))
    let output = ""
    child.stdout.on("data", (chunk) => {
      output += chunk
    })
    const body = '{"type":"integration.ping"}'
    const now = new Date()
    const send = (signature: string) =>
      fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        body,
        headers: {
          "webhook-id": "evt_1",
          "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
          "webhook-signature": signature
        }
      })
    const isListening = () =>
      send("").then(
        () => true,
        () => false
      )
    await eventually(isListening, "the receiver listens")
    assert.strictEqual((await send(new Webhook(secret).sign("evt_1", now, body))).status, 204)
    assert.strictEqual((await send(new Webhook(secret).sign("evt_2", now, body))).status, 401)
    await eventually(() => output !== "", "the receiver prints the body")
    assert.strictEqual(output, `${body}\n`)
  })
})
