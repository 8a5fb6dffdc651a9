import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../../../domain/contracting/Client.ts"
import { Contact, ContactId, CreateContact, PatchContact } from "../../../../domain/contracting/Contact.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ contactId: ContactId })

export class ContactsApi extends HttpApiGroup.make("contacts")
  .annotate(OpenApi.Description, "People to talk to at a client")
  .add(
    HttpApiEndpoint.get("list", "/contacts")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, clientId: optional(ClientId) }))
      .addSuccess(data(Schema.Array(Contact)))
      .annotateContext(operation("List contacts", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/contacts")
      .setPayload(CreateContact)
      .addSuccess(data(Contact), created)
      .annotateContext(operation("Create a contact", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/contacts/:contactId")
      .setPath(path)
      .addSuccess(data(Contact))
      .annotateContext(operation("Get one contact", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/contacts/:contactId")
      .setPath(path)
      .setPayload(PatchContact)
      .addSuccess(data(Contact))
      .annotateContext(operation("Change a contact", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/contacts/:contactId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a contact", inTenant("MEMBER")))
  ) {}
