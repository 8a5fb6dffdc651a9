import { Effect } from "effect"
import type pg from "pg"
import type { Row } from "../row.ts"

export interface ProjectRef {
  readonly tenant: string
  readonly project: string
}

const distinctProjects = 4096

/** A pseudo-random selection that is the same in every run. */
export const selectProjectRefs = (client: pg.Client) =>
  Effect.promise(async () => {
    const { rows } = await client.query<ProjectRef>(
      "select tenant_id as tenant, id as project from projects order by md5(id) limit $1",
      [distinctProjects]
    )
    return rows
  })

export const pageSize = 50

/** Only the service is measured, so that no rejected requests are compared. */
export const makeReadRows = (refs: ReadonlyArray<ProjectRef>): ReadonlyArray<Row> => [
  {
    name: `GET /projects?limit=${pageSize}`,
    method: "GET",
    requests: [...new Set(refs.map(({ tenant }) => tenant))].map((tenant) => ({
      path: `/api/v1/projects?limit=${pageSize}`,
      tenant
    })),
    rejected: []
  },
  {
    name: "GET /projects/{id}",
    method: "GET",
    requests: refs.map(({ project }) => ({ path: `/api/v1/projects/${project}` })),
    rejected: []
  }
]
