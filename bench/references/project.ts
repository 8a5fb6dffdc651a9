export interface Project {
  readonly id: string
  readonly contract: string
  readonly name: string
  readonly description?: string
  readonly order?: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** The body of a PATCH. Null removes a field. */
export interface ProjectChange {
  readonly name?: string
  readonly description?: string | null
  readonly order?: number | null
}

export interface ProjectRow {
  readonly id: string
  readonly contract: string
  readonly name: string
  readonly description: string | null
  readonly order: number | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** A project row with the sequence of its last event. */
export interface VersionedProjectRow extends ProjectRow {
  readonly sequence: number
}

export const toProject = (row: ProjectRow): Project => {
  const { contract, createdAt, description, id, name, order, updatedAt } = row
  return {
    id,
    contract,
    name,
    ...(description === null ? {} : { description }),
    ...(order === null ? {} : { order }),
    createdAt,
    updatedAt
  }
}
