import { runProgram } from "./tool.mjs"

await runProgram("drills", "drills/main.ts")
