import { resolve } from "node:path"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"
import { writeRelease } from "./releaseFolder.mjs"

const [target = inProject("release")] = process.argv.slice(2)
await orExplain(prepare({ installOnly: true, dev: true }).then(() => writeRelease(resolve(target))))
process.stdout.write(`Wrote ${resolve(target)}\n`)
