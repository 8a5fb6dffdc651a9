import { HttpApi, type HttpApiGroup, OpenApi } from "@effect/platform"
import { WireError } from "../../domain/Errors.ts"

const base = HttpApi.make("contracting")
  .addError(WireError)
  .annotate(OpenApi.Title, "Contracting service")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(OpenApi.Servers, [{ url: "/" }])
  .annotate(OpenApi.Description, "Contracting and invoicing for many tenants: every request works inside one of them.")

/** The whole contract out of its groups, below the version's prefix. */
export const assemble = <G extends HttpApiGroup.HttpApiGroup.Any>(groups: ReadonlyArray<G>) => {
  const widest: HttpApi.HttpApi<"contracting", HttpApiGroup.HttpApiGroup.Any, WireError, never> = groups.reduce(
    // Each step widens the type of the one before; the sum is stated once, below.
    (api, group) => api.add(group) as typeof widest,
    base as unknown as HttpApi.HttpApi<"contracting", HttpApiGroup.HttpApiGroup.Any, WireError, never>
  )
  return widest.prefix("/api/v1") as unknown as HttpApi.HttpApi<"contracting", G, WireError, never>
}
