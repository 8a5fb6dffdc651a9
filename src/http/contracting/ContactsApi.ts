import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { Contact, ContactId, CreateContact, PatchContact } from "../../domain/contracting/Contact.ts"
import { field, optional } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ contactId: ContactId })

export class ContactsApi extends HttpApiGroup.make("contacts")
  .annotateContext(tag("Contacts", "Clients", "The people to talk to at a client."))
  .add(
    HttpApiEndpoint.get("list", "/contacts")
      .setUrlParams(
        Schema.Struct({ ...pageQueryFields, clientId: optional(field(ClientId, "Only contacts of this client.")) })
      )
      .addSuccess(data(Schema.Array(Contact)))
      .annotateContext(
        operation("List contacts", inTenant("VIEWER"), {
          description:
            "Lists contacts of the tenant, sorted by `order`, then by identifier, one page at a time. With " +
            "`clientId`, only those of one client."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/contacts")
      .setPayload(CreateContact)
      .addSuccess(data(Contact), created)
      .annotateContext(
        operation("Create a contact", inTenant("MEMBER"), {
          description: "Adds a contact to a client.",
          rejects: ["a `clientId` that does not exist in the tenant (404)"],
          events: ["contact.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/contacts/:contactId")
      .setPath(path)
      .addSuccess(data(Contact))
      .annotateContext(operation("Get a contact", inTenant("VIEWER"), { description: "Returns one contact." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/contacts/:contactId")
      .setPath(path)
      .setPayload(PatchContact)
      .addSuccess(data(Contact))
      .annotateContext(
        operation("Update a contact", inTenant("MEMBER"), {
          description: "Changes the given fields of a contact.",
          events: ["contact.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/contacts/:contactId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a contact", inTenant("MEMBER"), {
          description: "Deletes a contact.",
          rejects: ["a contact that emails use (`inUse`)"],
          events: ["contact.deleted"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
