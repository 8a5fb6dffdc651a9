import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { findUsualBrowser } from "./browser.mjs"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain, root } from "./project.mjs"

const help = `npm run check:console                            opens and scrolls long lists of the console in Chromium, and types into
                                                 a draft of 10 000 lines; reports frames, long tasks and the size of
                                                 the scripts; fails if a task takes more than 100 ms
npm run check:console -- --seconds 20            scrolls each list so long [5]
npm run check:console -- --drafts 1000           compares the live totals of so many random drafts with the service's
npm run check:console -- --screenshots <folder>  writes every screen to a folder, in light and dark, 1280 and 360 pixels wide

It starts PostgreSQL, NATS and the service by itself. Run nothing else beside it: frames and tasks take longer then. The table
also has the CPU time of tasks, which does not depend on other programs.`

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    seconds: { type: "string" },
    drafts: { type: "string" },
    screenshots: { type: "string" }
  }
})

const environment = () => ({
  ...process.env,
  CHROMIUM_BIN: findUsualBrowser() ?? "",
  ...(values.seconds === undefined ? {} : { CHECK_SECONDS: values.seconds }),
  ...(values.drafts === undefined ? {} : { CHECK_DRAFTS: values.drafts }),
  ...(values.screenshots === undefined ? {} : { CHECK_SCREENSHOTS: resolve(values.screenshots) })
})

const run = async () => {
  await prepare({ dev: true })
  const vitest = inProject("node_modules/vitest/vitest.mjs")
  const config = "test/support/consoleCheck/vitest.config.ts"
  const child = spawn(process.execPath, [vitest, "run", "--config", config, "--disable-console-intercept"], {
    cwd: root,
    env: environment(),
    stdio: "inherit"
  })
  const forward = (signal) => child.kill(signal)
  process.once("SIGINT", forward).once("SIGTERM", forward)
  child.once("exit", (code) => {
    process.exitCode = code ?? 1
  })
}

if (values.help) process.stdout.write(`${help}\n`)
else await orExplain(run())
