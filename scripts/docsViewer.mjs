import { writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { inProject } from "./project.mjs"

const packageName = "@scalar/fastify-api-reference"

/**
 * The viewer alone, @scalar/api-reference, brings 240 MB of packages that only its own build needs. This package contains
 * the finished viewer, but offers it only as a route of Fastify.
 */
export const requestViewer = async () => {
  const [{ default: fastify }, { default: plugin }] = await Promise.all([import("fastify"), import(packageName)])
  const app = fastify()
  await app.register(plugin, { routePrefix: "/docs", configuration: { url: "/openapi.json" } })
  const { rawPayload, statusCode } = await app.inject("/docs/js/scalar.js")
  await app.close()
  if (statusCode !== 200) throw new Error(`${packageName} has no viewer at /docs/js/scalar.js (${statusCode})`)
  return rawPayload
}

/** The compressed viewer of the documentation page. In the repository, so that a start installs none of its packages. */
export const viewerFile = inProject("src/http/server/pages/docs-viewer.js.gz")

export const writeViewer = async () => writeFileSync(viewerFile, gzipSync(await requestViewer(), { level: 9 }))
