import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { AttachMedia, Slot } from "../../domain/branding/Media.ts"
import { Client, ClientId, CreateClient, clientSorts, PatchClient } from "../../domain/contracting/Client.ts"
import { ClientBalance } from "../../domain/payments/ClientBalance.ts"
import { rejectedSums } from "../../domain/reports/ReportAmount.ts"
import { inTenant, StartsWithStatement, WholeList } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { searchParameter, sortParameter } from "../api/Paging.ts"

const mediaPath = Schema.Struct({ clientId: ClientId, slot: Slot })
const path = Schema.Struct({ clientId: ClientId })

export class ClientsApi extends HttpApiGroup.make("clients")
  .annotateContext(
    tag(
      "Clients",
      "Clients",
      "The parties that a tenant works for. Addresses, contacts and contracts belong to a client."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/clients")
      .setUrlParams(
        Schema.Struct({ ...searchParameter("the name"), ...sortParameter(clientSorts, "`order`, then by identifier") })
      )
      .addSuccess(data(Schema.Array(Client)))
      .annotateContext(
        operation("List all clients", inTenant("VIEWER"), {
          description:
            "Lists all clients of the tenant in one response, sorted by `order`, then by identifier. `q` and `sort` search " +
            "and sort them. A long list is sent in chunks, and is no snapshot: a client whose `order` changes meanwhile " +
            "can appear twice or not at all."
        })
      )
      .annotate(WholeList, true)
  )
  .add(
    HttpApiEndpoint.post("create", "/clients")
      .setPayload(CreateClient)
      .addSuccess(data(Client), created)
      .annotateContext(
        operation("Create a client", inTenant("MEMBER"), {
          description: "Adds a client to the tenant.",
          events: ["client.created"],
          example: { media: [] }
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/clients/:clientId")
      .setPath(path)
      .addSuccess(data(Client))
      .annotateContext(operation("Get a client", inTenant("VIEWER"), { description: "Returns one client." }))
  )
  .add(
    HttpApiEndpoint.get("balance", "/clients/:clientId/balance")
      .setPath(path)
      .addSuccess(data(ClientBalance))
      .annotateContext(
        operation("Get the balance of a client", inTenant("VIEWER"), {
          description:
            "Returns by currency what the client owes, what of it is overdue, and what is left of its payments.",
          rejects: [rejectedSums]
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/clients/:clientId")
      .setPath(path)
      .setPayload(PatchClient)
      .addSuccess(data(Client))
      .annotateContext(
        operation("Update a client", inTenant("MEMBER"), {
          description: "Changes the given fields of a client.",
          events: ["client.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/clients/:clientId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a client", inTenant("MEMBER"), {
          description: "Deletes a client and detaches its images.",
          rejects: [
            "a client that addresses, contacts, contracts, credit notes, payments or subscriptions use (`inUse`)"
          ],
          events: ["client.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.put("attach", "/clients/:clientId/media/:slot")
      .setPath(mediaPath)
      .setPayload(AttachMedia)
      .addSuccess(data(Client))
      .annotateContext(
        operation("Attach an image to a client", inTenant("MEMBER"), {
          description:
            "Puts a verified image into a slot of the client, and replaces the image that the slot has. " +
            "Invoices that are finalized from then on show the logo and the background of the client.",
          rejects: [
            "an asset that does not exist (`exists`) or is not READY (`state`)",
            "one slot more than a client can have (`quota`)"
          ],
          events: ["client.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("detach", "/clients/:clientId/media/:slot")
      .setPath(mediaPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Detach an image from a client", inTenant("MEMBER"), {
          description: "Empties a slot of the client. The asset stays.",
          rejects: ["a slot without an image (404)"],
          events: ["client.updated"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
