import { HttpApi, type HttpApiGroup, OpenApi } from "@effect/platform"
import { WireError } from "../../domain/Errors.ts"
import { eventSchemas } from "../../domain/events/Event.ts"

const base = HttpApi.make("contracting")
  .addError(WireError)
  .annotate(HttpApi.AdditionalSchemas, eventSchemas)
  .annotate(OpenApi.Title, "Contracting service")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(OpenApi.Servers, [{ url: "/" }])
  .annotate(OpenApi.Description, "Contracting and invoicing for many tenants: every request works inside one of them.")

type Contract<G extends HttpApiGroup.HttpApiGroup.Any> = HttpApi.HttpApi<"contracting", G, WireError, never>

/** The whole contract out of its groups, below the version's prefix. */
export const assemble = <G extends HttpApiGroup.HttpApiGroup.Any>(groups: ReadonlyArray<G>) => {
  // A list of groups cannot tell its type step by step, so the sum is stated at the start. It leaves out the
  // framework's own decode error, which the edge never lets out.
  let api = base as unknown as Contract<G>
  for (const group of groups) api = api.add(group)
  return api.prefix("/api/v1")
}
