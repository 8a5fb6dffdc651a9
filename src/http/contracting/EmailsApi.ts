import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ContactId } from "../../domain/contracting/Contact.ts"
import { CreateEmail, Email, EmailId, PatchEmail } from "../../domain/contracting/Email.ts"
import { field, optional } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ emailId: EmailId })

export class EmailsApi extends HttpApiGroup.make("emails")
  .annotateContext(tag("Emails", "Clients", "Email addresses of contacts."))
  .add(
    HttpApiEndpoint.get("list", "/emails")
      .setUrlParams(
        Schema.Struct({ ...pageQueryFields, contactId: optional(field(ContactId, "Only emails of this contact.")) })
      )
      .addSuccess(data(Schema.Array(Email)))
      .annotateContext(
        operation("List emails", inTenant("VIEWER"), {
          description:
            "Lists emails of the tenant, sorted by `order`, then by identifier, one page at a time. With " +
            "`contactId`, only those of one contact."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/emails")
      .setPayload(CreateEmail)
      .addSuccess(data(Email), created)
      .annotateContext(
        operation("Create an email", inTenant("MEMBER"), {
          description: "Adds an email address to a contact.",
          rejects: ["a `contactId` that does not exist in the tenant (404)"],
          events: ["email.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/emails/:emailId")
      .setPath(path)
      .addSuccess(data(Email))
      .annotateContext(operation("Get an email", inTenant("VIEWER"), { description: "Returns one email." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/emails/:emailId")
      .setPath(path)
      .setPayload(PatchEmail)
      .addSuccess(data(Email))
      .annotateContext(
        operation("Update an email", inTenant("MEMBER"), {
          description: "Changes the given fields of an email.",
          events: ["email.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/emails/:emailId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete an email", inTenant("MEMBER"), {
          description: "Deletes an email.",
          events: ["email.deleted"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
