import { pathToFileURL } from "node:url"
import { buildTool } from "./buildTool.mjs"
import { orExplain } from "./project.mjs"

/** Programs of this project that are no part of the service, by their command: `npm run <name>`. */
const tools = {
  bench: { entry: "bench/main.ts" },
  "check:e-invoices": { entry: "test/support/eInvoiceCheck/main.ts", quiet: true },
  demo: { entry: "tools/demo/main.ts", quiet: true, client: true },
  drill: { entry: "tools/drills/main.ts" },
  listen: { entry: "tools/listen/main.ts", quiet: true, client: true },
  neighbours: { entry: "bench/neighbours/main.ts" },
  walkthrough: { entry: "tools/walkthrough/main.ts" }
}

const [name, ...args] = process.argv.slice(2)
const { entry, ...options } = tools[name]
const program = await orExplain(buildTool(entry, options))
process.argv = [process.execPath, program, ...args]
await import(pathToFileURL(program).href)
