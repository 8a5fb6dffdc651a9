import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../../../domain/contracting/Client.ts"
import { Contract, ContractId, CreateContract, PatchContract } from "../../../../domain/contracting/Contract.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ contractId: ContractId })

export class ContractsApi extends HttpApiGroup.make("contracts")
  .annotate(OpenApi.Description, "What was agreed with a client")
  .add(
    HttpApiEndpoint.get("list", "/contracts")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, clientId: optional(ClientId) }))
      .addSuccess(data(Schema.Array(Contract)))
      .annotateContext(operation("List contracts", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/contracts")
      .setPayload(CreateContract)
      .addSuccess(data(Contract), created)
      .annotateContext(operation("Create a contract", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/contracts/:contractId")
      .setPath(path)
      .addSuccess(data(Contract))
      .annotateContext(operation("Get one contract", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/contracts/:contractId")
      .setPath(path)
      .setPayload(PatchContract)
      .addSuccess(data(Contract))
      .annotateContext(operation("Change a contract", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/contracts/:contractId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a contract", inTenant("MEMBER")))
  ) {}
