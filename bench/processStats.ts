import { existsSync, readFileSync } from "node:fs"

const readProcFile = (pid: number | undefined, name: string) => {
  const file = `/proc/${pid}/${name}`
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

const readStatusMiB = (pid: number | undefined, field: RegExp) => {
  const kib = field.exec(readProcFile(pid, "status") ?? "")?.[1]
  return kib === undefined ? undefined : Number(kib) / 1024
}

/** Resident memory of a process, where the system tells it as a file. */
export const readResidentMiB = (pid: number | undefined) => readStatusMiB(pid, /^VmRSS:\s+(\d+) kB$/m)

/** The most resident memory a process ever had. */
export const readPeakResidentMiB = (pid: number | undefined) => readStatusMiB(pid, /^VmHWM:\s+(\d+) kB$/m)

// Linux counts for its users in hundredths of a second, whatever the clock of the machine.
const tickMillis = 10

/** Time a process has spent computing. The name in its second field may hold anything, so it is counted from its end. */
export const readCpuMillis = (pid: number | undefined) => {
  const stat = readProcFile(pid, "stat")
  const [user, system] =
    stat
      ?.slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13) ?? []
  return user === undefined || system === undefined ? undefined : (Number(user) + Number(system)) * tickMillis
}
