import { spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import type { OpenApiDocument } from "../../src/http/api/OpenApi.ts"
import { toViewerDocument } from "../../src/http/server/pages/ViewerDocument.ts"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { type ClientProject, makeClientProject } from "../support/servers/clientProject.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { startReceiver } from "../support/servers/receiver.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { eventually, startWorker } from "../support/servers/worker.ts"
import { startUnreliableProxy } from "./unreliableProxy.ts"

const guide = readFileSync(join(projectRoot, "docs", "client.md"), "utf8")
const blocks = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ""]) => text)
const isReceiver = (text: string) => text.includes("createServer")

const expectedOutput = [
  /^INV-\d+-000001 22000$/,
  /^true$/,
  /^Pump house$/,
  /^Quay$/,
  /^Crane$/,
  /^1$/,
  /^EUR 22000$/,
  /^name minLength$/,
  /^order min$/,
  /^undefined$/,
  /^true$/,
  /^true$/
]

const assertOutput = (output: string) => {
  const lines = output.trimEnd().split("\n")
  assert.lengthOf(lines, expectedOutput.length, output)
  for (const [index, pattern] of expectedOutput.entries()) assert.match(lines[index] ?? "", pattern)
}

/** Mistakes, each on a line of its own, and the compiler error of each. */
const mistakes = [
  { mistake: "an unknown method", line: "api.clients.crate({ name: 'N' })", code: "TS2551" },
  { mistake: "an unknown field", line: "api.clients.create({ nom: 'N' })", code: "TS2353" },
  { mistake: "a missing field", line: "api.invoices.create({})", code: "TS2741" },
  { mistake: "a value outside an enum", line: "api.invoices.list({ status: 'LATE' })", code: "TS2322" },
  { mistake: "a missing header", line: "api.webhooks.receive('k', issue, {})", code: "TS2345" },
  { mistake: "data of an event without a check", line: "event.data.invoiceNumber", code: "TS2339" },
  { mistake: "an ETag for a creation", line: "api.clients.create({ name: 'N' }, { ifMatch: '1' })", code: "TS2353" }
] as const

const invalidHeader = `import { createClient, type Event, type IssueWebhook } from "contracting-client"
declare const event: Event, issue: IssueWebhook
const api = createClient({ baseUrl: "", token: "" })
`

const limitsProgram = `import { createClient, ServiceUnavailable } from "contracting-client"
const api = createClient({ baseUrl: process.env.API ?? "", token: process.env.TOKEN ?? "", maxRetryDelaySeconds: 5 })
await api.tenants.create({ name: "Harbour Works" }).catch((error: unknown) => {
  if (!(error instanceof ServiceUnavailable)) throw error
  const { code, message, requestId, retryAfterSeconds, status } = error
  console.log(JSON.stringify({ code, message, requestId, retryAfterSeconds, status }))
})
`

/** The samples of the documentation page, each as a program, and the variables that they leave to the reader. */
const writeSamples = (project: ClientProject, document: OpenApiDocument) => {
  const variables = new Set(["baseUrl", "token", "tenantId"])
  for (const [path, operations] of Object.entries(toViewerDocument(document).paths)) {
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) variables.add(name)
    for (const [method, { "x-codeSamples": samples }] of Object.entries(operations))
      for (const { source } of samples) project.write(`sample-${method}${path.replaceAll(/\W+/g, "-")}.ts`, source)
  }
  project.write("variables.d.ts", [...variables].map((name) => `declare const ${name}: string\n`).join(""))
}

describe("The client package, installed from its tarball in an empty project", { timeout: 60_000 }, () => {
  let service: Service
  let project: ClientProject
  let errors: ReadonlyArray<string>
  beforeAll(async () => {
    ;[service, project] = await Promise.all([startService({}), makeClientProject()])
    project.write("guide.ts", blocks.filter((text) => !isReceiver(text)).join("\n"))
    project.write("receiver.ts", blocks.find(isReceiver) ?? "")
    project.write("limits.ts", limitsProgram)
    project.write("invalid.ts", invalidHeader + mistakes.map(({ line }) => line).join("\n"))
    writeSamples(project, service.document)
    errors = await project.compile()
  }, 240_000)
  afterAll(async () => {
    project.remove()
    await service.stop()
  })

  const start = (name: string, env: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, [project.programOf(name)], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    onTestFinished(() => void child.kill("SIGKILL"))
    const printed = { text: "" }
    child.stdout.on("data", (chunk) => {
      printed.text += chunk
    })
    return printed
  }

  it("compiles in strict mode, with its own declarations, its guide and the samples of the documentation page", () => {
    assert.deepStrictEqual(
      errors.filter((line) => !line.startsWith("invalid.ts(")),
      []
    )
  })

  it.each(mistakes)("does not compile with $mistake", ({ code, line }) => {
    const number = invalidHeader.split("\n").length + mistakes.findIndex((mistake) => mistake.line === line)
    assert.isTrue(
      errors.some((error) => error.startsWith(`invalid.ts(${number},`) && error.includes(`error ${code}:`)),
      errors.join("\n")
    )
  })

  it("is small, has no dependencies and contains no code of the service", () => {
    const folder = join(project.folder, "node_modules", "contracting-client")
    const { dependencies, type } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    assert.deepStrictEqual([dependencies, type], [undefined, "module"])
    assert.deepStrictEqual(
      readdirSync(join(project.folder, "node_modules")).filter((name) => !name.startsWith(".")),
      ["contracting-client"]
    )
    assert.isBelow(statSync(project.tarball).size, 100_000)
    const scripts = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"))
    for (const name of scripts)
      for (const [, target = ""] of readFileSync(join(folder, name), "utf8").matchAll(/from "([^"]+)"/g))
        assert.isTrue(target.startsWith("."), `${name} imports ${target}`)
  })

  it("has a method for every operation of the OpenAPI document", async () => {
    const { createClient } = await import(join(project.folder, "node_modules", "contracting-client", "index.js"))
    const client = createClient({ baseUrl: service.url, token: "" })
    const operationIds = Object.values(service.document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => ("operationId" in operation ? String(operation.operationId) : ""))
    )
    assert.isAbove(operationIds.length, 80)
    for (const id of operationIds) {
      const [group = "", name = ""] = id.split(".")
      assert.isFunction(client[group]?.[name], id)
    }
  })

  it("does what its guide says", async () => {
    assertOutput(await project.run("guide.ts", { API: service.url, TOKEN: await service.token("alice") }))
  })

  it("repeats requests with the same key after a 503 or a lost connection, and the work is done once", async () => {
    const proxy = await startUnreliableProxy(service.url, (path) =>
      path === "/api/v1/clients" ? "disconnect" : path === "/api/v1/tenants" ? 1 : 0
    )
    onTestFinished(proxy.stop)
    assertOutput(await project.run("guide.ts", { API: proxy.url, TOKEN: await service.token("carol") }))

    const posts = proxy.attempts.filter(({ method }) => method === "POST")
    const keys = new Set(posts.map(({ key }) => key))
    assert.isFalse(keys.has(undefined))
    const [first, second] = posts
    assert.deepStrictEqual([first?.path, first?.key], [second?.path, second?.key])
    // The backoff without Retry-After would be shorter.
    assert.isAtLeast((second?.at ?? 0) - (first?.at ?? 0), 990)

    const { body: tenants } = await service.api("GET", "/tenants", { as: "carol" })
    assert.lengthOf(tenants.data, 1)
    const { body: clients } = await service.api("GET", "/clients", { as: "carol", tenant: tenants.data[0].id })
    assert.deepStrictEqual(
      clients.data.map(({ name }: { readonly name: string }) => name),
      ["Northwind", "Southwind"]
    )
  })

  it("fails at once with a typed error when Retry-After is longer than its limit", async () => {
    const proxy = await startUnreliableProxy(service.url, () => 3600)
    onTestFinished(proxy.stop)
    const output = await project.run("limits.ts", { API: proxy.url, TOKEN: await service.token("dave") })
    assert.deepStrictEqual(JSON.parse(output), {
      code: "ServiceUnavailable",
      message: "POST /api/v1/tenants answered 503: Service Unavailable",
      requestId: "req_lost",
      retryAfterSeconds: 3600,
      status: 503
    })
    assert.lengthOf(proxy.attempts, 1)
  })

  it("verifies a webhook that the service delivered, and rejects it when it was changed or is old", async () => {
    const recorder = await startReceiver()
    const workers = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
    onTestFinished(async () => {
      await Promise.all(workers.map(({ stop }) => stop()))
      await recorder.stop()
    })
    const tenant = await service.newTenant("alice")
    const post = async (path: string, body?: object) =>
      (await service.api("POST", path, { as: "alice", tenant, ...(body === undefined ? {} : { body }) })).body.data
    const integration = { provider: "WEBHOOK", name: "Books", config: { url: recorder.url } }
    const { id, secret } = await post("/integrations", integration)
    await post(`/integrations/${id}/subscriptions`, { eventType: "invoice.finalized" })
    const { id: clientId } = await post("/clients", { name: "Northwind" })
    const contract = await post("/contracts", { clientId, name: "M", currencyCode: "EUR", status: "ACTIVE" })
    const invoice = await post("/invoices", { contractId: contract.id })
    await post("/billables", { invoiceId: invoice.id, billables: [{ name: "Größe", amountMinor: 100 }] })
    const { invoiceNumber } = await post(`/invoices/${invoice.id}/finalize`)
    await eventually(() => recorder.received.length === 1, "the webhook is delivered")
    const [delivered] = recorder.received
    assert.isDefined(delivered)

    const port = await findClosedPort()
    const printed = start("receiver.ts", { SECRET: secret, PORT: String(port) })
    const send = (headers: Readonly<Record<string, string>>, body: string) => {
      const signed = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"))
      const request = { method: "POST", headers: Object.fromEntries(signed), body }
      return fetch(`http://127.0.0.1:${port}`, request).then(
        ({ status }) => status,
        () => 0
      )
    }
    const { headers, text } = delivered
    await eventually(async () => (await send({}, text)) === 401, "the receiver listens")
    assert.strictEqual(await send(headers, text), 204)
    assert.strictEqual(await send(headers, text.replace("FINALIZED", "PAID")), 401)
    assert.strictEqual(await send({ ...headers, "webhook-id": "evt_other" }, text), 401)
    const hourAgo = new Date(Date.now() - 3_600_000)
    const old = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(hourAgo.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("evt_1", hourAgo, text)
    }
    assert.strictEqual(await send(old, text), 401)
    await eventually(() => printed.text !== "", "the receiver prints the number")
    assert.strictEqual(printed.text, `${invoiceNumber}\n`)
  })

  it("signs like the service, so that any library for Standard Webhooks verifies it", async () => {
    const { signWebhook } = await import(join(project.folder, "node_modules", "contracting-client", "index.js"))
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`
    const body = '{"type":"integration.ping","name":"Größe"}'
    assert.deepEqual(
      new Webhook(secret).verify(body, await signWebhook({ id: "evt_1", body, secret })),
      JSON.parse(body)
    )
  })
})
