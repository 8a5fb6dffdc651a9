import { createHash } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync } from "node:fs"
import { inProject } from "./project.mjs"

/** The first line of a bundle: which packages it was made with. */
export const packagesMark = () =>
  `// packages ${createHash("sha256")
    .update(readFileSync(inProject("package-lock.json")))
    .digest("hex")}`

/** Whether the bundle was made with the packages of today's lock file. */
export const hasPackagesMark = (bundle) => {
  const mark = packagesMark()
  const start = Buffer.alloc(mark.length)
  const file = openSync(bundle)
  readSync(file, start)
  closeSync(file)
  return start.toString() === mark
}
