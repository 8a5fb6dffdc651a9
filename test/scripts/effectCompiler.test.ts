import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { effectCompiler } from "../../scripts/effectCompiler.mjs"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"

const program = `import { Effect } from "effect"
export const save = () => {
  Effect.succeed(1)
}
export const length: string = 1
`

describe("npm run typecheck", () => {
  it("reports what breaks a rule of Effect, and what has the wrong type", () => {
    const folder = mkdtempSync(join(tmpdir(), "contracting-typecheck-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"))
    writeFileSync(join(folder, "save.mts"), program)
    const project = { extends: join(projectRoot, "tsconfig.json"), include: ["save.mts"] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project))
    const { args, command } = effectCompiler(join(folder, "tsbuildinfo"))
    const { stdout } = spawnSync(command, args, { cwd: folder, encoding: "utf8" })
    const faults = Array.from(stdout.matchAll(/^save\.mts\((\d+),\d+\): error/gm), ([, line]) => line)
    assert.deepStrictEqual(faults, ["3", "5"])
    assert.include(stdout, "floatingEffect")
  })
})
