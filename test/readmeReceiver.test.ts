import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { Webhook } from "standardwebhooks"
import { assert, describe, it, onTestFinished } from "vitest"
import { makeProgramFolder } from "./support/servers/programFolder.ts"
import { findClosedPort } from "./support/servers/proxy.ts"
import { eventually } from "./support/servers/worker.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const program = readme.split("## Events and integrations\n")[1]?.split("```ts\n")[1]?.split("```")[0] ?? ""
const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`

describe("the README's receiver of webhooks", () => {
  it("passes the compiler, takes what is signed and refuses what is not", { timeout: 90_000 }, async () => {
    const folder = makeProgramFolder()
    onTestFinished(() => folder.remove())
    folder.write("receiver.ts", program)
    assert.deepStrictEqual(await folder.typeFaults(), [])
    const port = await findClosedPort()
    const env = { ...process.env, SECRET: secret, PORT: String(port) }
    const child = spawn(process.execPath, [folder.build("receiver.ts")], { env, stdio: ["ignore", "pipe", "inherit"] })
    onTestFinished(() => void child.kill("SIGKILL"))
    let printed = ""
    child.stdout.on("data", (text) => {
      printed += text
    })
    const body = '{"type":"integration.ping"}'
    const send = async (signature: string, at: Date) =>
      fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        body,
        headers: {
          "webhook-id": "evt_1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": signature
        }
      })
    const now = new Date()
    await eventually(
      () =>
        send("", now).then(
          () => true,
          () => false
        ),
      "it listens"
    )
    assert.strictEqual((await send(new Webhook(secret).sign("evt_1", now, body), now)).status, 204)
    assert.strictEqual((await send(new Webhook(secret).sign("evt_2", now, body), now)).status, 401)
    await eventually(() => printed !== "", "it prints")
    assert.strictEqual(printed, `${body}\n`)
  })
})
