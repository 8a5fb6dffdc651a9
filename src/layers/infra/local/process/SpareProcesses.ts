import { statSync } from "node:fs"
import { Effect } from "effect"
import { type Child, type Program, startProgram, stopChild } from "./Child.ts"

interface Spare {
  readonly child: Child
  readonly program: Program
  /** When the packages that it has loaded were built. */
  readonly packagesBuiltAt: number | undefined
}

/**
 * Processes that have loaded the packages and wait for their turn, by the name of their program. Loading takes most of
 * a start. `packagesMark` is a file that every build of the packages replaces.
 */
export const makeSpareProcesses = (packagesMark: string) =>
  Effect.gen(function* () {
    const spares = new Map<string, Spare>()
    /** Undefined while a build replaces them. */
    const packagesBuiltAt = () => statSync(packagesMark, { throwIfNoEntry: false })?.mtimeMs

    const discard = ({ child, program }: Spare) => stopChild(child, program.stop)

    const prepare = Effect.fnUntraced(function* (program: Program) {
      const builtAt = packagesBuiltAt()
      const child = yield* startProgram(program)
      const spare = { child, program, packagesBuiltAt: builtAt }
      spares.set(program.name, spare)
      void child.ended.then(() => spares.get(program.name) === spare && spares.delete(program.name))
    })

    const take = (name: string) =>
      Effect.gen(function* () {
        const spare = spares.get(name)
        spares.delete(name)
        if (spare === undefined || spare.packagesBuiltAt === packagesBuiltAt()) return spare?.child
        yield* discard(spare)
        return undefined
      })

    yield* Effect.addFinalizer(() => Effect.forEach(spares.values(), discard, { concurrency: "unbounded" }))
    return {
      /** Starts a process for each program that waits until `start` takes it. */
      prepare: (programs: ReadonlyArray<Program>) => Effect.forEach(programs, prepare, { discard: true }),

      /** Lets the waiting process of a program run, or starts one. `args` are the arguments of the program. */
      start: (args: ReadonlyArray<string>) => (program: Program) =>
        Effect.gen(function* () {
          const child = (yield* take(program.name)) ?? (yield* startProgram(program))
          child.write(`${JSON.stringify(args)}\n`)
          return child
        })
    }
  })
