import { Effect } from "effect"
import type pg from "pg"
import { caller } from "../caller.ts"
import { median } from "../median.ts"
import { pageOfProjects, projectOfCaller } from "../references/projectStatements.ts"
import { membership } from "../references/statements.ts"
import { type Place, pageSize } from "./reads.ts"

/** What one execution of a statement costs the database. */
export interface Effort {
  readonly statement: string
  /** Pages of 8 KiB looked at, in PostgreSQL's own memory or not. They depend on nothing but the data and the plan. */
  readonly buffers: number
  readonly millis: number
}

interface Explained {
  readonly name: string
  readonly text: string
  readonly values: (place: Place) => ReadonlyArray<string | number>
}

const { issuer, subject } = caller

/** The statements behind the rows. */
const explained: ReadonlyArray<Explained> = [
  { ...membership, values: ({ tenant }) => [tenant, issuer, subject] },
  { ...pageOfProjects, values: ({ tenant }) => [tenant, pageSize + 1] },
  { ...projectOfCaller.alone, values: ({ project }) => [issuer, subject, project] }
]

/** The part of `explain`'s answer that is read. */
interface Plan {
  readonly "QUERY PLAN": readonly [
    {
      readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number }
      readonly "Execution Time": number
    }
  ]
}

const literal = (client: pg.Client, value: string | number) =>
  typeof value === "number" ? String(value) : client.escapeLiteral(value)

/** Prepared as the service prepares it: the plan is the one PostgreSQL settles on after the first executions. */
const effortOf = async (client: pg.Client, { name, text, values }: Explained, places: ReadonlyArray<Place>) => {
  await client.query(`prepare "${name}" as ${text}`)
  const plans: Array<Plan["QUERY PLAN"][0]> = []
  for (const place of places) {
    const given = values(place).map((value) => literal(client, value))
    const { rows } = await client.query<Plan>(
      `explain (analyze, buffers, format json) execute "${name}" (${given.join(", ")})`
    )
    if (rows[0] !== undefined) plans.push(rows[0]["QUERY PLAN"][0])
  }
  await client.query(`deallocate "${name}"`)
  const settled = plans.slice(firstExecutions)
  return {
    statement: name,
    buffers: median(settled.map(({ Plan }) => Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"])),
    millis: median(settled.map((plan) => plan["Execution Time"]))
  } satisfies Effort
}

const firstExecutions = 10
const executions = 100

export const efforts = (client: pg.Client, places: ReadonlyArray<Place>) =>
  Effect.promise(async () => {
    const found: Array<Effort> = []
    for (const statement of explained)
      found.push(await effortOf(client, statement, places.slice(0, firstExecutions + executions)))
    return found
  })
