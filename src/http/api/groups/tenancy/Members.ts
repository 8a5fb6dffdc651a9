import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { CreateMember, Member, MemberId, PatchMember } from "../../../../domain/tenancy/Member.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { PageQuery } from "../../Paging.ts"

const path = Schema.Struct({ memberId: MemberId })

export class MembersApi extends HttpApiGroup.make("members")
  .annotate(OpenApi.Description, "Who belongs to a tenant, and what each may do")
  .add(
    HttpApiEndpoint.get("list", "/members")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Member)))
      .annotateContext(operation("List members", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/members")
      .setPayload(CreateMember)
      .addSuccess(data(Member), created)
      .annotateContext(operation("Let someone in", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.get("get", "/members/:memberId")
      .setPath(path)
      .addSuccess(data(Member))
      .annotateContext(operation("Get one member", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/members/:memberId")
      .setPath(path)
      .setPayload(PatchMember)
      .addSuccess(data(Member))
      .annotateContext(operation("Change a member's role", inTenant("ADMIN")))
  )
  .add(
    // Every member can leave. The handler requires an ADMIN to remove another member.
    HttpApiEndpoint.del("remove", "/members/:memberId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Remove a member, or leave", inTenant("VIEWER")))
  ) {}
