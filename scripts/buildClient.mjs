import { prepare } from "./prepare.mjs"
import { orExplain } from "./project.mjs"

await orExplain(prepare({ dev: true, client: true }))
process.stdout.write("The client package is in dist/client; `npm pack ./dist/client` makes a tarball of it.\n")
