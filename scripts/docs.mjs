import { writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { buildTool } from "./buildTool.mjs"
import { writeViewer } from "./docsViewer.mjs"
import { inProject, orExplain } from "./project.mjs"

const help = `npm run docs   writes docs/settings.md and .env.example, which derive from src/layers/infra/config/Settings.ts, and
               the viewer of the documentation page, which is part of a package for development`

const write = async () => {
  const program = await buildTool("src/settingsDocs.ts")
  const { exampleEnvironment, settingsPage } = await import(pathToFileURL(program).href)
  writeFileSync(inProject("docs", "settings.md"), settingsPage)
  writeFileSync(inProject(".env.example"), exampleEnvironment)
  await writeViewer()
  process.stdout.write("Wrote docs/settings.md, .env.example and the viewer\n")
}

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await orExplain(write())
