import { existsSync, readFileSync, writeFileSync } from "node:fs"

const readProcFile = (pid: number | undefined, name: string) => {
  const file = `/proc/${pid}/${name}`
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

const readStatusMiB = (pid: number | undefined, field: RegExp) => {
  const kib = field.exec(readProcFile(pid, "status") ?? "")?.[1]
  return kib === undefined ? undefined : Number(kib) / 1024
}

/** Reads the resident memory of a process; undefined without /proc. */
export const readResidentMiB = (pid: number | undefined) => readStatusMiB(pid, /^VmRSS:\s+(\d+) kB$/m)

export const readPeakResidentMiB = (pid: number | undefined) => readStatusMiB(pid, /^VmHWM:\s+(\d+) kB$/m)

/** Lets the peak begin anew: see clear_refs in proc(5). */
export const resetPeakResident = (pid: number | undefined) => {
  const file = `/proc/${pid}/clear_refs`
  if (existsSync(file)) writeFileSync(file, "5")
}

// USER_HZ is 100 on Linux, whatever the frequency of the kernel's clock.
const tickMillis = 10

/**
 * CPU time of a process. The second field, its name, may contain spaces and parentheses, so fields count from its end.
 */
export const readCpuMillis = (pid: number | undefined) => {
  const stat = readProcFile(pid, "stat")
  const [user, system] =
    stat
      ?.slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13) ?? []
  return user === undefined || system === undefined ? undefined : (Number(user) + Number(system)) * tickMillis
}
