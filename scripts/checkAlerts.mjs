import { execFileSync } from "node:child_process"
import { pathToFileURL } from "node:url"
import { buildTool } from "./buildTool.mjs"
import { inProject, orExplain } from "./project.mjs"

const help = `npm run check:alerts   checks the alert rules of deploy/prometheus and runs their tests with promtool, which it
                       downloads where it is not installed`

const check = async () => {
  const program = await buildTool("tools/local/Promtool.ts", { quiet: true })
  const { findPromtool } = await import(pathToFileURL(program).href)
  const promtool = await findPromtool()
  const run = (...args) => execFileSync(promtool, args, { cwd: inProject("deploy", "prometheus"), stdio: "inherit" })
  run("check", "rules", "alerts.yaml")
  run("test", "rules", "alerts.test.yaml")
}

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(check())
