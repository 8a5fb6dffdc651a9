import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../support/servers/apiProcesses.ts"
import { buildClientPackage } from "../support/servers/clientProject.ts"
import { compileFolder } from "../support/servers/compiler.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../support/servers/receiver.ts"
import { eventually } from "../support/servers/worker.ts"
import { normalize, outputIn, runTool, startTool } from "./runTool.ts"

describe("npm run listen", { timeout: 120_000 }, () => {
  let processes: ApiProcesses
  let api: Awaited<ReturnType<ApiProcesses["start"]>>
  let receiver: Receiver
  let token: string
  beforeAll(async () => {
    const port = await findClosedPort()
    await Promise.all([bundleApi(), buildClientPackage()])
    processes = await prepareApiProcesses({ PORT: String(port), METRICS_PORT: "0" })
    api = await processes.start()
    await processes.startWorker("relay")
    receiver = await startReceiver()
    token = await processes.token("alice")
  }, 240_000)
  afterAll(async () => {
    await receiver.stop()
    await processes.stopAll()
  })

  const call = async <A>(method: string, path: string, tenant?: string, body?: object): Promise<A> => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(tenant === undefined ? {} : { "tenant-id": tenant })
    }
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${api.url}/api/v1${path}`, request)
    assert.isTrue(response.ok, String(response.status))
    const { data }: { readonly data: A } = JSON.parse(await response.text())
    return data
  }

  const post = (path: string, body: object, tenant?: string) => call<{ id: string }>("POST", path, tenant, body)

  const listen = (...args: ReadonlyArray<string>) => {
    const tool = startTool("listen", ["--url", api.url, "--token", token, "--forward-to", receiver.url, ...args])
    onTestFinished(() => tool.kill("SIGKILL"))
    return tool
  }

  /** The types of the events that the receiver got, of one tenant. */
  const receivedIn = (tenant: string) =>
    receiver.received.map(({ text }) => JSON.parse(text)).filter((event) => event.tenant === tenant)

  it("forwards new events signed, prints what came back, and survives a restart of the service", async () => {
    const { id: tenant } = await post("/tenants", { name: "Harbour Works" })
    await post("/clients", { name: "Before" }, tenant)
    const isInFeed = async () => {
      const events = await call<ReadonlyArray<{ readonly type: string }>>("GET", "/events", tenant)
      return events.some(({ type }) => type === "client.created")
    }
    await eventually(isInFeed, "the feed has the first client")
    const tool = listen("--tenant", tenant)
    await eventually(() => tool.printed.stdout.includes("response"), "the table begins", 60)

    await post("/clients", { name: "Northwind" }, tenant)
    receiver.respondWith((_, response) => response.writeHead(500).end())
    await eventually(() => receivedIn(tenant).length === 1, "the first event arrives")

    await api.kill()
    await eventually(() => tool.printed.stdout.includes("does not answer"), "the tool notices the outage")
    api = await processes.start()
    await post("/clients", { name: "Southwind" }, tenant)
    await eventually(() => receivedIn(tenant).length === 2, "the second event arrives")
    receiver.respondWith((_, response) => response.writeHead(204).end())
    await post("/clients", { name: "Westwind" }, tenant)
    await eventually(() => tool.printed.stdout.includes(" 204 "), "the third row is printed")
    tool.kill("SIGINT")
    const { code, stderr, stdout } = await tool.ended

    assert.deepStrictEqual([code, stderr], [0, ""])
    const secret = /^Secret +(whsec_\S+)$/m.exec(stdout)?.[1] ?? ""
    for (const { headers, text } of receiver.received) new Webhook(secret).verify(text, headers)
    assert.deepStrictEqual(
      receivedIn(tenant).map(({ data }) => data.name),
      ["Northwind", "Southwind", "Westwind"]
    )
    const [head = "", table = ""] = normalize(stdout).split("\n\n")
    const [shownHead = "", shownTable = ""] = normalize(outputIn("listen.md")).split("\n\n")
    assert.strictEqual(head, shownHead)
    assert.strictEqual(table.split("\n")[0], shownTable.split("\n")[0])
    const rows = stdout.split("\n").filter((line) => line.includes("client.created"))
    assert.lengthOf(rows, 3)
    for (const [index, event] of receivedIn(tenant).entries()) assert.include(rows[index], event.id)
    assert.match(stdout, /The service is back\./)
    assert.match(stdout, /Sent 3 events; the receiver accepted [12]\./)
  })

  it("starts where it is told, with the types and the secret it is given", async () => {
    const { id: tenant } = await post("/tenants", { name: "Quay Works" })
    const client = await post("/clients", { name: "Northwind" }, tenant)
    await post("/contacts", { clientId: client.id, name: "Ada" }, tenant)
    const secret = `whsec_${Buffer.alloc(32, 3).toString("base64")}`
    const types = ["--type", "client.*", "--secret", secret]
    const tool = listen("--tenant", tenant, "--from", "start", ...types)
    await eventually(() => receivedIn(tenant).length > 0, "the event arrives", 60)
    await post("/clients", { name: "Southwind" }, tenant)
    await eventually(() => receivedIn(tenant).length > 1, "the next event arrives")
    tool.kill("SIGINT")
    assert.strictEqual((await tool.ended).code, 0)
    assert.deepStrictEqual(
      receivedIn(tenant).map(({ data, type }) => [type, data.name]),
      [
        ["client.created", "Northwind"],
        ["client.created", "Southwind"]
      ]
    )
    for (const { headers, text } of receiver.received.filter(({ text }) => text.includes(tenant)))
      new Webhook(secret).verify(text, headers)
  })

  it("says what is wrong with its arguments", async () => {
    const connection = ["--url", api.url, "--token", token, "--forward-to", receiver.url]
    const run = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await runTool("listen", args)
      return { code, text: stdout + stderr }
    }
    assert.deepInclude(await run("--help"), { code: 0 })
    assert.match((await run("--forward-to", "nowhere")).text, /needs the address of a receiver/)
    assert.match((await run(...connection, "--tenant", "tnt_none")).text, /no member of a tenant tnt_none/)
    assert.match((await run(...connection)).text, /several tenants.*Harbour Works.*Quay Works/s)
    assert.match((await run(...connection, "--secret", "abc")).text, /--secret must be whsec_/)
    const away = `http://127.0.0.1:${await findClosedPort()}`
    assert.match((await run(...connection, "--url", away)).text, /No service answers at .*npm start/)
    const rejected = await run(...connection, "--token", "none")
    assert.deepInclude(rejected, { code: 1 })
    assert.match(rejected.text, /rejects the token/)
  })

  it("compiles together with the other tools against the client package", async () => {
    assert.deepStrictEqual(await compileFolder(join(projectRoot, "tools")), [])
  })
})
