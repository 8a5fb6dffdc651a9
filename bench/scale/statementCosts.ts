import { Effect } from "effect"
import type pg from "pg"
import { median } from "../median.ts"
import { listProjectsStatement, readProjectStatements } from "../references/projectStatements.ts"
import { membershipStatement } from "../references/statements.ts"
import { benchCaller } from "../tokenIssuer.ts"
import { type ProjectRef, pageSize } from "./readRows.ts"

/** The cost of one execution of a statement. */
export interface StatementCost {
  readonly statement: string
  /** Pages of 8 KiB read from the buffer cache or from disk: they depend only on the data and the plan. */
  readonly buffers: number
  readonly millis: number
}

interface ExplainedStatement {
  readonly name: string
  readonly text: string
  readonly values: (place: ProjectRef) => ReadonlyArray<string | number>
}

const { issuer, subject } = benchCaller

/** The statements behind the measured rows. */
const explainedStatements: ReadonlyArray<ExplainedStatement> = [
  { ...membershipStatement, values: ({ tenant }) => [tenant, issuer, subject] },
  { ...listProjectsStatement, values: ({ tenant }) => [tenant, pageSize + 1] },
  { ...readProjectStatements.alone, values: ({ project }) => [issuer, subject, project] }
]

/** The part of the output of `explain` that is read. */
interface Plan {
  readonly "QUERY PLAN": readonly [
    {
      readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number }
      readonly "Execution Time": number
    }
  ]
}

const formatLiteral = (client: pg.Client, value: string | number) =>
  typeof value === "number" ? String(value) : client.escapeLiteral(value)

/** Prepared like in the service, so that PostgreSQL uses the same generic plan after the warm-up executions. */
const measureStatement = async (
  client: pg.Client,
  { name, text, values }: ExplainedStatement,
  refs: ReadonlyArray<ProjectRef>
) => {
  await client.query(`prepare "${name}" as ${text}`)
  const plans: Array<Plan["QUERY PLAN"][0]> = []
  for (const ref of refs) {
    const literals = values(ref).map((value) => formatLiteral(client, value))
    const { rows } = await client.query<Plan>(
      `explain (analyze, buffers, format json) execute "${name}" (${literals.join(", ")})`
    )
    if (rows[0] !== undefined) plans.push(rows[0]["QUERY PLAN"][0])
  }
  await client.query(`deallocate "${name}"`)
  const measuredPlans = plans.slice(warmUpExecutions)
  return {
    statement: name,
    buffers: median(measuredPlans.map(({ Plan }) => Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"])),
    millis: median(measuredPlans.map((plan) => plan["Execution Time"]))
  } satisfies StatementCost
}

const warmUpExecutions = 10
const measuredExecutions = 100

export const measureStatementCosts = (client: pg.Client, refs: ReadonlyArray<ProjectRef>) =>
  Effect.promise(async () => {
    const costs: Array<StatementCost> = []
    for (const statement of explainedStatements)
      costs.push(await measureStatement(client, statement, refs.slice(0, warmUpExecutions + measuredExecutions)))
    return costs
  })
