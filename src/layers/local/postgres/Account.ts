import { execFileSync, spawnSync } from "node:child_process"
import { Data, Effect } from "effect"
import type { Program } from "../process/Child.ts"

type Account = NonNullable<Program["account"]>

/** How to start a program so that it runs under the right account. */
export type Launch = (command: string, args: ReadonlyArray<string>) => Pick<Program, "command" | "args" | "account">

export class NoAccount extends Data.TaggedError("NoAccount")<{ readonly folder: string; readonly uid: number }> {
  override get message() {
    return `PostgreSQL refuses to run as root, and no account could be found that reaches ${this.folder} (the last one tried has the number ${this.uid}). Run this as an ordinary user, move it to a folder that others may enter, or point DATABASE_URL at a PostgreSQL of your own.`
  }
}

export const runsAsRoot = process.getuid?.() === 0

const numberOf = (option: "-u" | "-g", name: string) =>
  Number(execFileSync("id", [option, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))

const accountNamed = (name: string) =>
  Effect.try((): Account => ({ uid: numberOf("-u", name), gid: numberOf("-g", name) }))

/** The account that stands in for root. */
export const standIn = accountNamed("postgres").pipe(
  Effect.orElse(() => accountNamed("nobody")),
  Effect.orElseSucceed((): Account => ({ uid: 65_534, gid: 65_534 }))
)

const asIs: Launch = (command, args) => ({ command, args, account: undefined })

const plain =
  (account: Account): Launch =>
  (command, args) => ({ command, args, account })

/**
 * Leaves one right of root's with the account: to pass closed folders. The security bit is needed because access(2),
 * by which PostgreSQL looks for its own files, otherwise ignores rights of a user other than root.
 */
const keeping =
  (right: string, { gid, uid }: Account): Launch =>
  (command, args) => ({
    command: "setpriv",
    args: [
      ...[`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--securebits=+no_setuid_fixup"],
      ...[`--inh-caps=-all,+${right}`, `--ambient-caps=-all,+${right}`, command, ...args]
    ],
    account: undefined
  })

const tryOut = 'set -e; "$0" --version >/dev/null; : >"$1/tried"; rm "$1/tried"'

const works = (launch: Launch, program: string, folder: string) => {
  const { account, args, command } = launch("/bin/sh", ["-c", tryOut, program, folder])
  return spawnSync(command, args, { stdio: "ignore", ...account }).status === 0
}

/**
 * As root: the way to start the program under the account with the fewest rights that can still run it and write in
 * the folder. Containers often withhold the milder right, so the stronger one comes last.
 */
export const launchAs = (account: Account, program: string, folder: string) =>
  Effect.suspend(() => {
    const ways = [plain(account), keeping("dac_read_search", account), keeping("dac_override", account)]
    const launch = ways.find((way) => works(way, program, folder))
    return launch === undefined ? Effect.fail(new NoAccount({ folder, uid: account.uid })) : Effect.succeed(launch)
  })

export const launchAsIs = Effect.succeed(asIs)
