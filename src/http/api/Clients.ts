import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { Client, ClientId, CreateClient, PatchClient } from "../../domain/Client.ts"
import { Access, inTenant } from "./Access.ts"
import { created, data } from "./Envelope.ts"

const path = Schema.Struct({ clientId: ClientId })

export class ClientsApi extends HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.get("list", "/clients")
      .addSuccess(data(Schema.Array(Client)))
      .annotate(Access, inTenant("VIEWER"))
  )
  .add(
    HttpApiEndpoint.post("create", "/clients")
      .setPayload(CreateClient)
      .addSuccess(data(Client), created)
      .annotate(Access, inTenant("MEMBER"))
  )
  .add(
    HttpApiEndpoint.get("get", "/clients/:clientId")
      .setPath(path)
      .addSuccess(data(Client))
      .annotate(Access, inTenant("VIEWER"))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/clients/:clientId")
      .setPath(path)
      .setPayload(PatchClient)
      .addSuccess(data(Client))
      .annotate(Access, inTenant("MEMBER"))
  )
  .add(
    HttpApiEndpoint.del("remove", "/clients/:clientId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(Access, inTenant("MEMBER"))
  ) {}
