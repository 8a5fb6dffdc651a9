import { createHash } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync } from "node:fs"
import { inProject } from "./project.mjs"

/** The first line of a bundle: a hash of the lock file it was built with. */
export const packagesMark = () =>
  `// packages ${createHash("sha256")
    .update(readFileSync(inProject("package-lock.json")))
    .digest("hex")}`

/** Whether the bundle was built with the current lock file. */
export const hasPackagesMark = (bundle) => {
  const mark = packagesMark()
  const start = Buffer.alloc(mark.length)
  const file = openSync(bundle)
  readSync(file, start)
  closeSync(file)
  return start.toString() === mark
}
