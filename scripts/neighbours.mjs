import { runProgram } from "./tool.mjs"

await runProgram("neighbours", "neighbours/main.ts")
