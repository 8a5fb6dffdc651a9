import type { Load } from "./load.ts"
import { generateLoad } from "./loadGenerator.ts"

process.on("message", async (load: Load) => process.send?.({ result: await generateLoad(load) }))
process.on("disconnect", () => process.exit())
