import { runProgram } from "./tool.mjs"

await runProgram("walkthrough", "examples/walkthrough/main.ts")
