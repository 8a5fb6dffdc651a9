import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { assert, it } from "vitest"
import { requestViewer, viewerFile } from "../../scripts/docsViewer.mjs"

it("the viewer of the documentation page is that of the installed package: npm run docs", async () => {
  assert.isTrue(gunzipSync(readFileSync(viewerFile)).equals(await requestViewer()))
})
