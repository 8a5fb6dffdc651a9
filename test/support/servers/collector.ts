import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** The process that exported it. */
  readonly process: string
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

interface ResourceSpans {
  readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
  readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Omit<CollectedSpan, "process">> }>
}

const spansOf = ({ resource, scopeSpans }: ResourceSpans) => {
  const process = resource.attributes.find(({ key }) => key === "process.name")?.value.stringValue ?? ""
  return scopeSpans.flatMap(({ spans }) => spans.map((span): CollectedSpan => ({ ...span, process })))
}

/** A collector of OpenTelemetry that records what it receives. */
export const startCollector = async () => {
  const received: Array<{ readonly path: string; readonly key: string | undefined; readonly body: string }> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += chunk
    })
    request.on("end", () => {
      received.push({ path: request.url ?? "", key: request.headers["x-key"]?.toString(), body })
      response.end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const spans = () =>
    received
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ body }): ReadonlyArray<ResourceSpans> => JSON.parse(body).resourceSpans)
      .flatMap(spansOf)
  const { port } = server.address() as AddressInfo // it listens on a port
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, received, spans, close }
}

export type Collector = Awaited<ReturnType<typeof startCollector>>
