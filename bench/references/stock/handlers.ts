import { HttpApiBuilder, HttpApiError } from "@effect/platform"
import { Effect, Layer } from "effect"
import { hasRole } from "../roles.ts"
import { Api } from "./api.ts"
import { CurrentPrincipal } from "./authentication.ts"
import { findProject, findRole, insertClient } from "./statements.ts"

const HealthLive = HttpApiBuilder.group(Api, "health", (group) =>
  group.handle("ready", () => Effect.succeed({ ready: true }))
)

const ProjectsLive = HttpApiBuilder.group(Api, "projects", (group) =>
  group.handle("read", ({ path }) =>
    Effect.gen(function* () {
      const { issuer, subject } = yield* CurrentPrincipal
      const project = yield* Effect.orDie(findProject({ issuer, subject, id: path.id }))
      return { data: yield* Effect.mapError(project, () => new HttpApiError.NotFound()) }
    })
  )
)

const ClientsLive = HttpApiBuilder.group(Api, "clients", (group) =>
  group.handle("create", ({ headers, payload }) =>
    Effect.gen(function* () {
      const principal = yield* CurrentPrincipal
      const tenant = headers["tenant-id"]
      const role = yield* Effect.orDie(findRole({ ...principal, tenant }))
      if (!hasRole(role, "MEMBER")) return yield* new HttpApiError.Forbidden()
      return { data: yield* Effect.orDie(insertClient({ tenant, subject: principal.subject }, payload)) }
    })
  )
)

export const handlers = Layer.mergeAll(HealthLive, ProjectsLive, ClientsLive)
