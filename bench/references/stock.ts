import { createServer } from "node:http"
import { HttpApiBuilder } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { Layer, Redacted } from "effect"
import { environment, exitWithBench } from "./environment.ts"
import { Api } from "./stock/api.ts"
import { AuthenticationLive } from "./stock/authentication.ts"
import { handlers } from "./stock/handlers.ts"
import { addHeaders } from "./stock/headers.ts"

exitWithBench()

const SqlLive = PgClient.layer({
  url: Redacted.make(environment.databaseUrl),
  maxConnections: environment.databasePool
})

HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.middleware(addHeaders)),
  Layer.provide(HttpApiBuilder.api(Api)),
  Layer.provide(handlers),
  Layer.provide(AuthenticationLive),
  Layer.provide(SqlLive),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: environment.port })),
  Layer.launch,
  NodeRuntime.runMain
)
