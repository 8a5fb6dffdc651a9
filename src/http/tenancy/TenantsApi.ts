import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { AttachMedia, Slot } from "../../domain/branding/Media.ts"
import { CreateTenant, PatchTenant, Tenant, TenantId } from "../../domain/tenancy/Tenant.ts"
import { anyCaller, inPathTenant } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { PageQuery } from "../api/Paging.ts"

const mediaPath = Schema.Struct({ tenantId: TenantId, slot: Slot })
const path = Schema.Struct({ tenantId: TenantId })

export class TenantsApi extends HttpApiGroup.make("tenants")
  .annotateContext(
    tag(
      "Tenants",
      "Tenants",
      "The businesses that share the service. Everything else belongs to one tenant. Start here: create a " +
        "tenant, and you are its OWNER."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/tenants")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Tenant)))
      .annotateContext(
        operation("List your tenants", anyCaller, {
          description: "Lists the tenants that you are a member of, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/tenants")
      .setPayload(CreateTenant)
      .addSuccess(data(Tenant), created)
      .annotateContext(
        operation("Create a tenant", anyCaller, {
          description:
            "Creates a tenant, with you as its first member, in the role OWNER. Send its `id` as the header " +
            "`tenant-id` to all operations inside the tenant.",
          rejects: ["one tenant more than you can own (`quota`)"],
          events: ["tenant.created", "member.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(data(Tenant))
      .annotateContext(operation("Get a tenant", inPathTenant("VIEWER"), { description: "Returns one tenant." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/tenants/:tenantId")
      .setPath(path)
      .setPayload(PatchTenant)
      .addSuccess(data(Tenant))
      .annotateContext(
        operation("Update a tenant", inPathTenant("ADMIN"), {
          description: "Changes the given fields of a tenant.",
          events: ["tenant.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a tenant", inPathTenant("OWNER", { hidden: true }), {
          description:
            "Deletes a tenant with everything in it. Nobody has access to it from then on. The service " +
            "erases its data in the background, and revokes its authorizations at providers. Export the tenant " +
            "first, with `GET /tenants/{tenantId}/export`: the law makes you keep invoices for years.",
          events: ["tenant.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("export", "/tenants/:tenantId/export")
      .setPath(path)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/zip" }))
      .annotateContext(
        operation("Export a tenant", inPathTenant("OWNER"), {
          description:
            "Returns everything of a tenant as one ZIP archive: its rows as JSON lines, the PDFs of issued invoices and " +
            "credit notes, its images, and `index.html` to look at it offline. It contains no secrets. The last file, " +
            "`SHA256SUMS`, has the checksum of every other one; an archive without it is incomplete. The service " +
            "reads the tenant while you receive the archive, so changes made meanwhile can be in it in part.",
          rejects: ["a second export of the tenant at the same time (429)"]
        })
      )
  )
  .add(
    HttpApiEndpoint.put("attach", "/tenants/:tenantId/media/:slot")
      .setPath(mediaPath)
      .setPayload(AttachMedia)
      .addSuccess(data(Tenant))
      .annotateContext(
        operation("Attach an image to a tenant", inPathTenant("ADMIN"), {
          description:
            "Puts a verified image into a slot of the tenant, and replaces the image that the slot has. " +
            "Invoices that are finalized from then on show the logo and the background of the tenant.",
          rejects: [
            "an asset that does not exist (`exists`) or is not READY (`state`)",
            "one slot more than a tenant can have (`quota`)"
          ],
          events: ["tenant.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("detach", "/tenants/:tenantId/media/:slot")
      .setPath(mediaPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Detach an image from a tenant", inPathTenant("ADMIN"), {
          description: "Empties a slot of the tenant. The asset stays.",
          rejects: ["a slot without an image (404)"],
          events: ["tenant.updated"]
        })
      )
  ) {}
