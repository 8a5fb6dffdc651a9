import { execFileSync, spawnSync } from "node:child_process"
import { Data, Effect } from "effect"
import type { Program } from "../process/Child.ts"

type Account = NonNullable<Program["account"]>

/** Builds the command that runs a program under the right account. */
export type Launch = (command: string, args: ReadonlyArray<string>) => Pick<Program, "command" | "args" | "account">

export class NoAccount extends Data.TaggedError("NoAccount")<{ readonly folder: string; readonly uid: number }> {
  override get message() {
    return `PostgreSQL refuses to run as root, and no other account can access ${this.folder} (last tried: uid ${this.uid}). Run this as an ordinary user, move it to a folder that other users can access, or set DATABASE_URL to another PostgreSQL server.`
  }
}

export const isRoot = process.getuid?.() === 0

const readId = (option: "-u" | "-g", name: string) =>
  Number(execFileSync("id", [option, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))

const findAccount = (name: string) => Effect.try((): Account => ({ uid: readId("-u", name), gid: readId("-g", name) }))

/** The account that runs PostgreSQL when this process is root: PostgreSQL refuses to run as root. */
export const unprivilegedAccount = findAccount("postgres").pipe(
  Effect.orElse(() => findAccount("nobody")),
  Effect.orElseSucceed((): Account => ({ uid: 65_534, gid: 65_534 }))
)

const asCurrentUser: Launch = (command, args) => ({ command, args, account: undefined })

const asUser =
  (account: Account): Launch =>
  (command, args) => ({ command, args, account })

/**
 * Grants the account one capability of root: to traverse folders without permission. PostgreSQL looks for its own files
 * with access(2), which ignores the capabilities of other users unless the security bit is set.
 */
const withCapability =
  (capability: string, { gid, uid }: Account): Launch =>
  (command, args) => ({
    command: "setpriv",
    args: [
      ...[`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--securebits=+no_setuid_fixup"],
      ...[`--inh-caps=-all,+${capability}`, `--ambient-caps=-all,+${capability}`, command, ...args]
    ],
    account: undefined
  })

const probeScript = 'set -e; "$0" --version >/dev/null; : >"$1/tried"; rm "$1/tried"'

const canRun = (launch: Launch, program: string, folder: string) => {
  const { account, args, command } = launch("/bin/sh", ["-c", probeScript, program, folder])
  return spawnSync(command, args, { stdio: "ignore", ...account }).status === 0
}

/**
 * For root: the launch with the fewest capabilities under which the account can run the program and write to the
 * folder. Containers often withhold the weaker capability, so the stronger one is the last candidate.
 */
export const launchAs = (account: Account, program: string, folder: string) =>
  Effect.suspend(() => {
    const candidates = [
      asUser(account),
      withCapability("dac_read_search", account),
      withCapability("dac_override", account)
    ]
    const launch = candidates.find((candidate) => canRun(candidate, program, folder))
    return launch === undefined ? Effect.fail(new NoAccount({ folder, uid: account.uid })) : Effect.succeed(launch)
  })

export const launchAsCurrentUser = Effect.succeed(asCurrentUser)
