import { runProcess } from "../../src/commands/Process.ts"
import { up } from "./up.ts"

runProcess(up({ watch: process.argv.includes("--watch") }))
