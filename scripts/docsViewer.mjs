import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { inProject } from "./project.mjs"

const packageName = "@scalar/fastify-api-reference"

/**
 * The viewer alone, @scalar/api-reference, brings 240 MB of packages that only its own build needs. This package contains
 * the finished viewer, but offers it only as a route of Fastify.
 */
const requestViewer = async () => {
  const [{ default: fastify }, { default: plugin }] = await Promise.all([import("fastify"), import(packageName)])
  const app = fastify()
  await app.register(plugin, { routePrefix: "/docs", configuration: { url: "/openapi.json" } })
  const { rawPayload, statusCode } = await app.inject("/docs/js/scalar.js")
  await app.close()
  if (statusCode !== 200) throw new Error(`${packageName} has no viewer at /docs/js/scalar.js (${statusCode})`)
  return rawPayload
}

/** The compressed viewer of the documentation page, as a file. It is made once for each version of the package. */
export const docsViewer = async () => {
  const { version } = JSON.parse(readFileSync(inProject("node_modules", packageName, "package.json"), "utf8"))
  const file = inProject(".cache", `docs-viewer-${version}.js.gz`)
  if (existsSync(file)) return file
  mkdirSync(dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, await promisify(gzip)(await requestViewer(), { level: 9 }))
  renameSync(temporary, file)
  return file
}
