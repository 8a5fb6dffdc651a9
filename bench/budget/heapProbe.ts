import { createServer } from "node:http"
import { heapProbeVariable } from "./heapProbeSettings.ts"

// Loaded before the service. Collects garbage with POST, and tells the size of the heap.
const server = createServer(({ method }, response) => {
  if (method === "POST") globalThis.gc?.()
  response.end(String(process.memoryUsage().heapUsed))
})
server.listen(process.env[heapProbeVariable]).unref()
