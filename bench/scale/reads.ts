import { Effect } from "effect"
import type pg from "pg"
import type { Row } from "../row.ts"

export interface Place {
  readonly tenant: string
  readonly project: string
}

const different = 4096

/** Projects from all over the database, in no order but always the same ones. */
export const places = (client: pg.Client) =>
  Effect.promise(async () => {
    const { rows } = await client.query<Place>(
      "select tenant_id as tenant, id as project from projects order by md5(id) limit $1",
      [different]
    )
    return rows
  })

export const pageSize = 50

/** What is asked for. Nothing is compared here, so there is nothing to refuse. */
export const rowsFor = (places: ReadonlyArray<Place>): ReadonlyArray<Row> => [
  {
    name: `GET /projects?limit=${pageSize}`,
    method: "GET",
    asks: [...new Set(places.map(({ tenant }) => tenant))].map((tenant) => ({
      path: `/api/v1/projects?limit=${pageSize}`,
      tenant
    })),
    refusals: []
  },
  {
    name: "GET /projects/{id}",
    method: "GET",
    asks: places.map(({ project }) => ({ path: `/api/v1/projects/${project}` })),
    refusals: []
  }
]
