import { execFileSync } from "node:child_process"
import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

const help = `npm run check:alerts   checks the alert rules of deploy/prometheus and runs their tests with promtool, which it
                       downloads where it is not installed`

const check = async () => {
  await prepare({ dev: true, quiet: true })
  const { bundle } = await import("./bundle.mjs")
  const program = inProject("node_modules", ".cache", "promtool", "Promtool.js")
  await bundle("tools/local/Promtool.ts", program)
  const { findPromtool } = await import(pathToFileURL(program).href)
  const promtool = await findPromtool()
  const run = (...args) => execFileSync(promtool, args, { cwd: inProject("deploy", "prometheus"), stdio: "inherit" })
  run("check", "rules", "alerts.yaml")
  run("test", "rules", "alerts.test.yaml")
}

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(check())
