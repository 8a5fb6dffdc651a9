import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"

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

/** The parent and the CPU times of a process and of its children that have ended: see proc_pid_stat(5). */
const readStat = (pid: number | undefined) => {
  const stat = readProcFile(pid, "stat")
  if (stat === undefined) return undefined
  // The second field, its name, may contain spaces and parentheses, so fields count from its end.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return {
    parent: fields[1],
    cpuMillis: (user + system) * tickMillis,
    endedChildrenMillis: (childUser + childSystem) * tickMillis
  }
}

/** CPU time of a process. */
export const readCpuMillis = (pid: number | undefined) => readStat(pid)?.cpuMillis

/** CPU time of a process and of all its children, also of those that have ended. */
export const readFamilyCpuMillis = (pid: number) => {
  const own = readStat(pid)
  if (own === undefined) return undefined
  const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const children = others.map((name) => readStat(Number(name))).filter((stat) => stat?.parent === pid)
  return children.reduce((sum, child) => sum + (child?.cpuMillis ?? 0), own.cpuMillis + own.endedChildrenMillis)
}
