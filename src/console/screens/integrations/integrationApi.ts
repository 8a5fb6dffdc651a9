import { api, done, type Loaded, load, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { updateVersion } from "../../api/update.ts"
import type { IntegrationValue } from "./providers.ts"

export type LoadedIntegration = Loaded<IntegrationValue>

const paramsOf = (integrationId: string) => ({ params: { path: { integrationId } } })

export const readIntegration = (integrationId: string) =>
  load(api.GET("/api/v1/integrations/{integrationId}", paramsOf(integrationId)))

type Headers = Readonly<Record<string, string>>

/** Changes the version of an integration that this page has read, once. */
const change = <B>(loaded: LoadedIntegration, form: string, mine: object, write: (headers: Headers) => Promise<B>) => {
  const { id } = loaded.value
  return updateVersion(
    loaded,
    mine,
    (match) => withKey(`${form} ${id}`, (key) => write({ ...match, ...key })),
    () => readIntegration(id)
  )
}

type Patch = Partial<Pick<IntegrationValue, "name" | "config">> & { readonly password?: string }

export const patchIntegration = (loaded: LoadedIntegration, body: Patch) =>
  change(loaded, "edit integration", body, (headers) =>
    read(api.PATCH("/api/v1/integrations/{integrationId}", { ...paramsOf(loaded.value.id), body, headers }))
  )

export const pauseIntegration = (loaded: LoadedIntegration) =>
  change(loaded, "pause", { status: "PAUSED" }, (headers) =>
    read(api.POST("/api/v1/integrations/{integrationId}/pause", { ...paramsOf(loaded.value.id), headers }))
  )

export const resumeIntegration = (loaded: LoadedIntegration) =>
  change(loaded, "resume", { status: "ACTIVE" }, (headers) =>
    read(api.POST("/api/v1/integrations/{integrationId}/resume", { ...paramsOf(loaded.value.id), headers }))
  )

export const rotateSecret = (loaded: LoadedIntegration, overlapHours: number) =>
  change(loaded, "rotate", {}, (headers) =>
    read(
      api.POST("/api/v1/integrations/{integrationId}/rotate-secret", {
        ...paramsOf(loaded.value.id),
        body: { overlapHours },
        headers
      })
    )
  )

/** Whether it is deleted now. */
export const deleteIntegration = async (loaded: LoadedIntegration) =>
  (await change(loaded, "delete integration", {}, async (headers) => {
    await done(api.DELETE("/api/v1/integrations/{integrationId}", { ...paramsOf(loaded.value.id), headers }))
    return true
  })) ?? false

export const pingIntegration = (integrationId: string) =>
  withKey(`ping ${integrationId}`, (headers) =>
    read(api.POST("/api/v1/integrations/{integrationId}/ping", { ...paramsOf(integrationId), headers }))
  )
