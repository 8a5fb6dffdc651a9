import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { Address, AddressId, CreateAddress, PatchAddress } from "../../domain/contracting/Address.ts"
import { ClientId } from "../../domain/contracting/Client.ts"
import { field, optional, QueryBoolean } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ addressId: AddressId })

export class AddressesApi extends HttpApiGroup.make("addresses")
  .annotateContext(
    tag(
      "Addresses",
      "Clients",
      "Postal addresses of clients, and of the tenant itself. Invoices print the first address of each."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/addresses")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          clientId: optional(field(ClientId, "Only addresses of this client.")),
          ofTenant: optional(field(QueryBoolean, "Whether the address is of the tenant itself, not of a client."))
        })
      )
      .addSuccess(data(Schema.Array(Address)))
      .annotateContext(
        operation("List addresses", inTenant("VIEWER"), {
          description:
            "Lists addresses of the tenant, sorted by `order`, then by identifier, one page at a time. With " +
            "`clientId`, only those of one client; with `ofTenant=true`, only those of the tenant itself."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/addresses")
      .setPayload(CreateAddress)
      .addSuccess(data(Address), created)
      .annotateContext(
        operation("Create an address", inTenant("MEMBER"), {
          description:
            "Adds an address to a client, or to the tenant itself if you leave out `clientId`. Invoices " +
            "print the first address of each, by `order`.",
          rejects: ["a `clientId` that does not exist in the tenant (404)"],
          events: ["address.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/addresses/:addressId")
      .setPath(path)
      .addSuccess(data(Address))
      .annotateContext(operation("Get an address", inTenant("VIEWER"), { description: "Returns one address." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/addresses/:addressId")
      .setPath(path)
      .setPayload(PatchAddress)
      .addSuccess(data(Address))
      .annotateContext(
        operation("Update an address", inTenant("MEMBER"), {
          description: "Changes the given fields of an address.",
          events: ["address.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/addresses/:addressId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete an address", inTenant("MEMBER"), {
          description: "Deletes an address.",
          events: ["address.deleted"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
