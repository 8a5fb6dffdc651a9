import { runTool } from "./tool.mjs"

await runTool("listen")
