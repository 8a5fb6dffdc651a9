import { spawn } from "node:child_process"
import { utimesSync } from "node:fs"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { assert, describe, it, onTestFinished } from "vitest"
import { projectRoot } from "../tools/local/ProjectRoot.ts"
import { eventually } from "./support/servers/worker.ts"

describe("npm run test:watch", { timeout: 120_000 }, () => {
  it("runs the selected test file, and again when it changes", async () => {
    const file = join("test", "domain", "ids.test.ts")
    const child = spawn(process.execPath, [join(projectRoot, "scripts", "test.mjs"), "--watch", file], {
      cwd: projectRoot,
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = new Promise((resolve) => child.once("exit", resolve))
    onTestFinished(async () => {
      child.kill("SIGTERM")
      await ended
    })
    let output = ""
    child.stdout.on("data", (chunk) => (output += chunk))
    const runs = () => output.split("Waiting for file changes").length - 1
    await eventually(() => runs() === 1, "the tests run", 60)
    assert.match(stripVTControlCharacters(output), /Test Files {2}1 passed \(1\)/)
    utimesSync(join(projectRoot, file), new Date(), new Date())
    await eventually(() => runs() === 2, "the tests run again", 60)
  })
})
