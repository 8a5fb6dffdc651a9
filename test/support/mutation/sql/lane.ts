import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { inspect } from "node:util"
import Tinypool from "tinypool"
import type { ProvidedContext, RunnerTask } from "vitest"
import { createVitest, type TestSpecification, type Vite, type Vitest } from "vitest/node"
import { projectRoot } from "../../../../tools/local/ProjectRoot.ts"
import { common } from "../../../../vitest.config.ts"
import type { UsedTemplates } from "./activeMutant.ts"
import { instrument, type SqlTemplate } from "./templates.ts"

type Servers = Omit<ProvidedContext, "sqlMutant">

/** What a file of tests did. */
export interface FileResult extends UsedTemplates {
  readonly file: string
  readonly failed: boolean
  /** The first error of a file that failed. */
  readonly error: string | undefined
}

// Loading the packages takes longer than most tests. A worker that is kept has loaded them, and every file that a run does
// not change, so a text that is read while files load needs a new one.
let keepsWorkers = true
const { recycleWorkers } = Tinypool.prototype
Tinypool.prototype.recycleWorkers = function (...args) {
  return keepsWorkers ? Promise.resolve() : recycleWorkers.apply(this, args)
}

/** From now on, every run loads all files. */
export const renewWorkers = () => {
  keepsWorkers = false
}

const hooks = (byFile: ReadonlyMap<string, ReadonlyArray<SqlTemplate>>): Vite.Plugin => ({
  name: "sql-mutation",
  enforce: "pre",
  transform: (source, id) => {
    const templates = byFile.get(id)
    return templates === undefined ? undefined : { code: instrument(source, templates), map: null }
  }
})

/** Runs the files as they are given, so that the likeliest one is first. */
class GivenOrder {
  shard = (files: Array<TestSpecification>) => files
  sort = (files: Array<TestSpecification>) => files
}

const options: Parameters<typeof createVitest>[1] = {
  ...common,
  root: projectRoot,
  config: false,
  watch: false,
  include: ["test/**/*.test.ts"],
  setupFiles: ["test/support/mutation/sql/activeMutant.ts"],
  reporters: [{}],
  onConsoleLog: () => false,
  minWorkers: 1,
  maxWorkers: 1,
  bail: 1,
  sequence: { sequencer: GivenOrder }
}

const unused: UsedTemplates = { loaded: [], shared: [], tests: [] }

const firstErrorOf = (task: RunnerTask): string | undefined =>
  task.result?.errors?.[0]?.message ??
  ("tasks" in task ? task.tasks.map(firstErrorOf).find((error) => error !== undefined) : undefined)

const resultsOf = (vitest: Vitest, errors: ReadonlyArray<unknown>): ReadonlyArray<FileResult> =>
  vitest.state.getFiles().map((file) => ({
    ...(file.meta.usedTemplates ?? unused),
    file: file.filepath,
    failed: errors.length > 0 || file.result?.state === "fail",
    error: firstErrorOf(file) ?? errors.map((error) => inspect(error))[0]
  }))

const filesOf = (templates: ReadonlyArray<SqlTemplate>) => {
  const byFile = new Map<string, ReadonlyArray<SqlTemplate>>()
  for (const template of templates) {
    const path = join(projectRoot, template.file)
    byFile.set(path, [...(byFile.get(path) ?? []), template])
  }
  return byFile
}

/** Far beyond what the slowest tests take: a mutant can keep a worker busy, where no timeout of a test ends it. */
const maxRunMs = 300_000

/** A worker that runs tests with one mutant after the other. */
export const openLane = async (templates: ReadonlyArray<SqlTemplate>, servers: Servers) => {
  const plugins = [hooks(filesOf(templates))]
  const create = () => createVitest("test", { ...options, provide: servers }, { plugins })
  let vitest = await create()

  const runIn = async (used: Vitest, files: ReadonlyArray<string>, mutant: ProvidedContext["sqlMutant"]) => {
    const project = used.getRootProject()
    used.state.filesMap.clear()
    project.provide("sqlMutant", mutant)
    const run = await used.runTestSpecifications(files.map((file) => project.createSpecification(file)))
    return resultsOf(used, run.unhandledErrors)
  }
  return {
    /** Runs files until one fails. Returns undefined if they do not end. */
    run: async (files: ReadonlyArray<string>, mutant: ProvidedContext["sqlMutant"]) => {
      const timer = new AbortController()
      const timeout = pause(maxRunMs, undefined, { signal: timer.signal }).catch(() => undefined)
      const results = await Promise.race([runIn(vitest, files, mutant), timeout])
      timer.abort()
      if (results === undefined) {
        await vitest.close()
        vitest = await create()
      }
      return results
    },
    close: () => vitest.close()
  }
}

export type Lane = Awaited<ReturnType<typeof openLane>>

/** Starts PostgreSQL and NATS for all lanes. Loads what starts them without hooks. */
export const startServers = async () => {
  const vitest = await createVitest("test", { ...options })
  const { default: start } = await vitest.import<typeof import("../../servers/globalSetup.ts")>(
    join(projectRoot, "test/support/servers/globalSetup.ts")
  )
  const servers: Partial<Record<string, unknown>> = {}
  const stop = await start({ provide: (name, value) => Object.assign(servers, { [name]: value }) })
  return {
    servers: servers as unknown as Servers, // globalSetup provides all of them
    stop: async () => {
      await stop()
      await vitest.close()
    }
  }
}
