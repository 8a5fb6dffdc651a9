import { runProgram } from "./tool.mjs"

await runProgram("neighbours", "bench/neighbours/main.ts")
