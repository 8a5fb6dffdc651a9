import { Console, Effect } from "effect"
import { runProcess } from "./commands/Process.ts"
import { UnusableArguments } from "./commands/UnusableArguments.ts"
import type { Settings } from "./layers/infra/config/Settings.ts"

interface Command {
  readonly run: (args: ReadonlyArray<string>) => Effect.Effect<void, unknown, Settings>
}

/** A process loads the command that it runs, and nothing of the others. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  api: () => import("./commands/api.ts"),
  worker: () => import("./commands/worker.ts"),
  migrate: () => import("./commands/migrate.ts"),
  reseal: () => import("./commands/reseal.ts"),
  token: () => import("./commands/token.ts"),
  console: () => import("./commands/console.ts")
}

const printHelp = Effect.flatMap(
  Effect.promise(() => import("./help.ts")),
  ({ help }) => Console.log(help)
)

const run = (name: string | undefined, args: ReadonlyArray<string>) => {
  if (name === undefined || name === "help" || [name, ...args].includes("--help")) return printHelp
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  return load === undefined
    ? Effect.fail(new UnusableArguments({ message: `"${name}" is not a command. --help lists the commands` }))
    : Effect.flatMap(Effect.promise(load), (command) => command.run(args))
}

const [command, ...args] = process.argv.slice(2)

runProcess(run(command, args))
