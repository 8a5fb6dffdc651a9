import { generate } from "./generate.ts"
import type { Load } from "./orders.ts"

process.on("message", async (load: Load) => process.send?.({ answer: await generate(load) }))
process.on("disconnect", () => process.exit())
