import { assert, describe, it } from "vitest"
import { settings } from "../../src/layers/infra/config/Settings.ts"
import { workerNames } from "../../src/workers/registry.ts"
import { commands, readProjectFile } from "../support/assertions/deployment.ts"

const unitFile = (name: string) => readProjectFile(`deploy/systemd/${name}`)

/** The values of an option, in the order of the file. */
const valuesOf = (unit: string, option: string) =>
  [...unit.matchAll(new RegExp(`^${option}=(.*)$`, "gm"))].map(([, value = ""]) => value)

const commandOf = (unit: string) => valuesOf(unit, "ExecStart").map((line) => line.split(" "))

const common = unitFile("contracting-.service.d/common.conf")
const migrate = unitFile("contracting-migrate.service")
const api = unitFile("contracting-api.service")
const worker = unitFile("contracting-worker@.service")

describe("The units of systemd", () => {
  it("run commands that exist", () => {
    for (const [unit, name] of [
      [migrate, "migrate"],
      [api, "api"]
    ] as const)
      assert.deepStrictEqual(commandOf(unit), [["/usr/bin/node", ...(commands[name] ?? [])]])
    for (const name of workerNames)
      assert.deepStrictEqual(commandOf(worker.replaceAll("%i", name)), [["/usr/bin/node", ...(commands[name] ?? [])]])
  })

  it("name every worker", () => {
    const [comment = ""] = worker.split("\n")
    assert.sameMembers(
      [...comment.matchAll(/@(\w+)/g)].map(([, name]) => name),
      [...workerNames]
    )
  })

  it("set only settings that exist, and production", () => {
    const named = [common, migrate, api, worker].flatMap((unit) => valuesOf(unit, "Environment"))
    assert.deepStrictEqual(
      named.filter((pair) => !((pair.split("=")[0] ?? "") in settings)),
      []
    )
    assert.include(named, "NODE_ENV=production")
  })

  it("run as an unprivileged user on a read-only system, and may compile code", () => {
    assert.deepStrictEqual(valuesOf(common, "DynamicUser"), ["yes"])
    assert.deepStrictEqual(valuesOf(common, "ProtectSystem"), ["strict"])
    assert.deepStrictEqual(valuesOf(common, "CapabilityBoundingSet"), [""])
    assert.deepStrictEqual(valuesOf(common, "MemoryDenyWriteExecute"), [])
  })
})
