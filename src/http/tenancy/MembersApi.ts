import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { CreateMember, Member, MemberId, PatchMember } from "../../domain/tenancy/Member.ts"
import { inTenant } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { PageQuery } from "../api/Paging.ts"

const path = Schema.Struct({ memberId: MemberId })

export class MembersApi extends HttpApiGroup.make("members")
  .annotateContext(
    tag(
      "Members",
      "Tenants",
      "The people who belong to a tenant. Their role says what they may do: VIEWER reads, MEMBER writes, " +
        "ADMIN manages, OWNER can also delete the tenant."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/members")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Member)))
      .annotateContext(
        operation("List members", inTenant("VIEWER"), {
          description: "Lists the members of the tenant, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/members")
      .setPayload(CreateMember)
      .addSuccess(data(Member), created)
      .annotateContext(
        operation("Add a member", inTenant("ADMIN"), {
          description:
            "Adds a person to the tenant. The person is named by the claims `iss` and `sub` of their tokens. " +
            "Only an OWNER can add an OWNER.",
          rejects: [
            "a person who is a member already (`unique`)",
            "the role OWNER, unless you are an OWNER (403)",
            "one member more than a tenant can have (`quota`)"
          ],
          events: ["member.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("me", "/me")
      .addSuccess(data(Member))
      .annotateContext(
        operation("Get your own membership", inTenant("VIEWER"), {
          description: "Returns you as a member of the tenant, with your role."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/members/:memberId")
      .setPath(path)
      .addSuccess(data(Member))
      .annotateContext(
        operation("Get a member", inTenant("VIEWER"), { description: "Returns one member of the tenant." })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/members/:memberId")
      .setPath(path)
      .setPayload(PatchMember)
      .addSuccess(data(Member))
      .annotateContext(
        operation("Change the role of a member", inTenant("ADMIN"), {
          description:
            "Changes the role of a member. Only an OWNER can change the role of an OWNER, or make someone an OWNER.",
          rejects: [
            "a change that leaves the tenant without an OWNER (`state`)",
            "a change of or to the role OWNER, unless you are an OWNER (403)"
          ],
          events: ["member.updated"]
        })
      )
  )
  .add(
    // Every member can leave. The handler requires an ADMIN to remove another member.
    HttpApiEndpoint.del("remove", "/members/:memberId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Remove a member, or leave a tenant", inTenant("VIEWER"), {
          description:
            "Removes a member from the tenant. Every member can remove themselves. To remove someone else " +
            "takes an ADMIN, and to remove an OWNER takes an OWNER.",
          rejects: ["the last OWNER of the tenant (`state`)", "another member, unless your role allows it (403)"],
          events: ["member.deleted"]
        })
      )
  ) {}
