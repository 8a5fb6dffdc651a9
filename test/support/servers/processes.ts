import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { commandLineOf } from "../../../tools/local/process/OrphanProcess.ts"

/** `pid parent arguments` of a process; empty when it has just ended. */
const readProcess = (pid: string) => {
  try {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
    return [`${pid} ${parent} ${commandLineOf(Number(pid))}`]
  } catch {
    return []
  }
}

/** Reads /proc on Linux, because small systems have no `ps`. */
const listProcesses = () =>
  process.platform === "linux"
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .flatMap(readProcess)
    : execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n")

/** The child processes, each with its last argument, such as `api`. */
export const childrenOf = (pid: number) =>
  listProcesses()
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent]) => Number(parent) === pid)
    .map((args) => ({ pid: Number(args[0]), name: args.at(-1) ?? "" }))
