import { runProgram } from "./tool.mjs"

await runProgram("drills", "tools/drills/main.ts")
