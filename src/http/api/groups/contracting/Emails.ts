import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ContactId } from "../../../../domain/contracting/Contact.ts"
import { CreateEmail, Email, EmailId, PatchEmail } from "../../../../domain/contracting/Email.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ emailId: EmailId })

export class EmailsApi extends HttpApiGroup.make("emails")
  .annotate(OpenApi.Description, "Email addresses of contacts")
  .add(
    HttpApiEndpoint.get("list", "/emails")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, contactId: optional(ContactId) }))
      .addSuccess(data(Schema.Array(Email)))
      .annotateContext(operation("List emails", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/emails")
      .setPayload(CreateEmail)
      .addSuccess(data(Email), created)
      .annotateContext(operation("Create an email", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/emails/:emailId")
      .setPath(path)
      .addSuccess(data(Email))
      .annotateContext(operation("Get one email", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/emails/:emailId")
      .setPath(path)
      .setPayload(PatchEmail)
      .addSuccess(data(Email))
      .annotateContext(operation("Change an email", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/emails/:emailId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete an email", inTenant("MEMBER")))
  ) {}
