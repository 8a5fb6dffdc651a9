import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AttachMedia, Slot } from "../../../../domain/branding/Media.ts"
import { Client, ClientId, CreateClient, PatchClient } from "../../../../domain/contracting/Client.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"

const mediaPath = Schema.Struct({ clientId: ClientId, slot: Slot })
const path = Schema.Struct({ clientId: ClientId })

export class ClientsApi extends HttpApiGroup.make("clients")
  .annotate(OpenApi.Description, "The parties work is done for")
  .add(
    HttpApiEndpoint.get("list", "/clients")
      .addSuccess(data(Schema.Array(Client)))
      .annotateContext(operation("List every client", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/clients")
      .setPayload(CreateClient)
      .addSuccess(data(Client), created)
      .annotateContext(operation("Create a client", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/clients/:clientId")
      .setPath(path)
      .addSuccess(data(Client))
      .annotateContext(operation("Get one client", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/clients/:clientId")
      .setPath(path)
      .setPayload(PatchClient)
      .addSuccess(data(Client))
      .annotateContext(operation("Change a client", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/clients/:clientId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a client", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.put("attach", "/clients/:clientId/media/:slot")
      .setPath(mediaPath)
      .setPayload(AttachMedia)
      .addSuccess(data(Client))
      .annotateContext(operation("Hang an image on a client", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("detach", "/clients/:clientId/media/:slot")
      .setPath(mediaPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Take an image off a client", inTenant("MEMBER")))
  ) {}
