import { prepare } from "./prepare.mjs"
import { orExplain } from "./project.mjs"

await orExplain(prepare({ force: true }))
