import { runProgram } from "./tool.mjs"

await runProgram("walkthrough", "tools/walkthrough/main.ts")
