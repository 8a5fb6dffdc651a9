import { HttpApi, HttpApiEndpoint, HttpApiError, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "./authentication.ts"
import { Client, NewClient, Project } from "./models.ts"

const dataOf = <A, I>(schema: Schema.Schema<A, I>) => Schema.Struct({ data: schema })

const Health = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("ready", "/readyz").addSuccess(Schema.Struct({ ready: Schema.Boolean }))
)

const Projects = HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("read")`/api/v1/projects/${HttpApiSchema.param("id", Schema.String)}`
      .addSuccess(dataOf(Project.json))
      .addError(HttpApiError.NotFound)
  )
  .middleware(Authentication)

const Clients = HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/clients")
      .setHeaders(Schema.Struct({ "tenant-id": Schema.String }))
      .setPayload(NewClient)
      .addSuccess(dataOf(Client.json), { status: 201 })
      .addError(HttpApiError.Forbidden)
  )
  .middleware(Authentication)

export class Api extends HttpApi.make("stock").add(Health).add(Projects).add(Clients) {}
