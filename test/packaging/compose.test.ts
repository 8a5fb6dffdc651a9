import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { workerNames } from "../../src/workers/registry.ts"
import { assertSettings, commands, readProjectFile } from "../support/assertions/deployment.ts"

interface ComposeService {
  readonly image: string
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string | number>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly deploy?: { readonly replicas: number }
  readonly read_only?: boolean
  readonly restart?: string
  readonly volumes?: ReadonlyArray<string>
}

const {
  services,
  volumes
}: {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
} = parse(readProjectFile("compose.yaml"), { merge: true })

const ours = Object.entries(services).filter(([, { image }]) => image === "contracting-service")

/** What somebody puts into .env. */
const secrets: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: "password",
  AUTH_ISSUER: "https://login.example.com",
  AUTH_AUDIENCE: "contracting",
  SECRETS_KEY: Buffer.alloc(32).toString("base64")
}

const interpolate = (value: string | number) =>
  String(value).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => secrets[name] ?? assert.fail(`${name} is not set`))

describe("compose.yaml", () => {
  it("runs two api, two of each worker and one migration", () => {
    const copies = ours.map(([name, { deploy }]) => [name, deploy?.replicas ?? 1])
    const expected = [["migrate", 1], ["api-1", 1], ["api-2", 1], ...workerNames.map((name) => [name, 2])]
    assert.sameDeepMembers(copies, expected)
  })

  it("runs commands that exist, and the api by default", () => {
    for (const [name, { command }] of ours)
      assert.deepStrictEqual(command, name.startsWith("api") ? undefined : [...(commands[name] ?? [])], name)
  })

  it("sets only settings that exist, to values that production accepts", async () => {
    for (const [, { environment = {} }] of ours)
      await assertSettings(
        Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value)]))
      )
  })

  it("starts every process after the migration", () => {
    for (const [name, { depends_on }] of ours)
      if (name !== "migrate")
        assert.deepStrictEqual(depends_on, { migrate: { condition: "service_completed_successfully" } }, name)
  })

  it("restarts every service, and gives none a writable root", () => {
    for (const [name, { read_only, restart }] of Object.entries(services)) {
      assert.strictEqual(read_only, true, name)
      assert.strictEqual(restart, name === "migrate" ? "on-failure" : "unless-stopped", name)
    }
  })

  it("has a NATS server with a volume for each one that NATS_URL and the cluster name", () => {
    const servers = Object.keys(services).filter((name) => name.startsWith("nats-"))
    const namesIn = (text: string, port: number) =>
      [...text.matchAll(new RegExp(`nats://([\\w-]+):${port}`, "g"))].map(([, name]) => name)
    assert.lengthOf(servers, 3)
    assert.deepStrictEqual(namesIn(String(services["api-1"]?.environment?.["NATS_URL"]), 4222), servers)
    assert.deepStrictEqual(namesIn(readProjectFile("deploy/compose/nats.conf"), 6222), servers)
    for (const name of servers) {
      assert.include(services[name]?.volumes ?? [], `${name}:/data`)
      assert.property(volumes, name)
    }
  })

  it("has a proxy to both api", () => {
    assert.include(readProjectFile("deploy/compose/Caddyfile"), "reverse_proxy api-1:3000 api-2:3000")
  })
})
