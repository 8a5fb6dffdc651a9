import { HttpApi, type HttpApiGroup, OpenApi } from "@effect/platform"
import { ApiError } from "../../domain/Errors.ts"
import { eventSchemas } from "../../domain/events/Event.ts"

const base = HttpApi.make("contracting")
  .addError(ApiError)
  .annotate(HttpApi.AdditionalSchemas, eventSchemas)
  .annotate(OpenApi.Title, "Contracting service")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(OpenApi.Servers, [{ url: "/" }])
  .annotate(OpenApi.Description, "Contracting and invoicing for many tenants: every request works inside one of them.")

type ContractingApi<G extends HttpApiGroup.HttpApiGroup.Any> = HttpApi.HttpApi<"contracting", G, ApiError, never>

/** The API of these groups, under the version's prefix. */
export const makeApi = <G extends HttpApiGroup.HttpApiGroup.Any>(groups: ReadonlyArray<G>) => {
  // A loop cannot refine the type group by group, so the final type is cast at the start. It omits Effect's
  // HttpApiDecodeError, which the server never sends.
  let api = base as unknown as ContractingApi<G>
  for (const group of groups) api = api.add(group)
  return api.prefix("/api/v1")
}
