import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Address, AddressId, CreateAddress, PatchAddress } from "../../../../domain/contracting/Address.ts"
import { ClientId } from "../../../../domain/contracting/Client.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ addressId: AddressId })

export class AddressesApi extends HttpApiGroup.make("addresses")
  .annotate(OpenApi.Description, "Postal addresses of clients, and of the tenant itself")
  .add(
    HttpApiEndpoint.get("list", "/addresses")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, clientId: optional(ClientId) }))
      .addSuccess(data(Schema.Array(Address)))
      .annotateContext(operation("List addresses", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/addresses")
      .setPayload(CreateAddress)
      .addSuccess(data(Address), created)
      .annotateContext(operation("Create an address", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/addresses/:addressId")
      .setPath(path)
      .addSuccess(data(Address))
      .annotateContext(operation("Get one address", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/addresses/:addressId")
      .setPath(path)
      .setPayload(PatchAddress)
      .addSuccess(data(Address))
      .annotateContext(operation("Change an address", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/addresses/:addressId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete an address", inTenant("MEMBER")))
  ) {}
