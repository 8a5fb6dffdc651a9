import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import {
  Contract,
  ContractId,
  ContractStatus,
  CreateContract,
  contractSorts,
  PatchContract
} from "../../domain/contracting/Contract.ts"
import { ContractBilling } from "../../domain/contracting/ContractBilling.ts"
import { field, optional } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields, searchParameter, sortParameter } from "../api/Paging.ts"

const path = Schema.Struct({ contractId: ContractId })

export class ContractsApi extends HttpApiGroup.make("contracts")
  .annotateContext(
    tag(
      "Contracts",
      "Contracts",
      "What was agreed with a client: the currency, the period, the payment term, and how much all invoices " +
        "together can bill."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/contracts")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          clientId: optional(field(ClientId, "Only contracts with this client.")),
          status: optional(ContractStatus),
          ...searchParameter("the name"),
          ...sortParameter(contractSorts, "`order`, then by identifier")
        })
      )
      .addSuccess(data(Schema.Array(Contract)))
      .annotateContext(
        operation("List contracts", inTenant("VIEWER"), {
          description:
            "Lists contracts of the tenant, sorted by `order`, then by identifier, one page at a time. Filters by client, " +
            "status and name."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/contracts")
      .setPayload(CreateContract)
      .addSuccess(data(Contract), created)
      .annotateContext(
        operation("Create a contract", inTenant("MEMBER"), {
          description:
            "Creates a contract with a client. Only an ACTIVE or ENDED contract can be invoiced, so activate " +
            "a DRAFT first.",
          rejects: [
            "an `endsAt` that is not after `startsAt` (`min`)",
            "a `clientId` that does not exist in the tenant (404)"
          ],
          events: ["contract.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/contracts/:contractId")
      .setPath(path)
      .addSuccess(data(Contract))
      .annotateContext(operation("Get a contract", inTenant("VIEWER"), { description: "Returns one contract." }))
  )
  .add(
    HttpApiEndpoint.get("billing", "/contracts/:contractId/billing")
      .setPath(path)
      .addSuccess(data(ContractBilling))
      .annotateContext(
        operation("Get what a contract has billed", inTenant("VIEWER"), {
          description:
            "Returns the net amounts of the issued invoices and of the drafts of a contract, and what its cap leaves."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/contracts/:contractId")
      .setPath(path)
      .setPayload(PatchContract)
      .addSuccess(data(Contract))
      .annotateContext(
        operation("Update a contract", inTenant("MEMBER"), {
          description: "Changes the given fields of a contract. Its status goes from DRAFT to ACTIVE to ENDED.",
          rejects: [
            "any other change of the status (`state`)",
            "an `endsAt` that is not after `startsAt` (`min`)",
            "another currency once the contract has invoices (`inUse`)",
            "a `capMinor` below what is billed already (`min`)"
          ],
          events: ["contract.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/contracts/:contractId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a contract", inTenant("MEMBER"), {
          description: "Deletes a contract.",
          rejects: ["a contract that projects or invoices use (`inUse`)"],
          events: ["contract.deleted"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
