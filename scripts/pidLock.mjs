import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const fromProc = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return state === "Z" || state === "X" ? undefined : rest[18]
}

const fromPs = (pid) => {
  const [state, ...started] = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/\s+/)
  return state === undefined || state.startsWith("Z") ? undefined : started.join("").replaceAll(":", "")
}

/**
 * The start time of a running process, in the system's format; undefined when it is gone or a zombie. With the pid it
 * identifies a process, because the system reuses pids.
 */
export const startOf = (pid) => {
  try {
    return process.platform === "linux" ? fromProc(pid) : fromPs(pid)
  } catch {
    return undefined
  }
}

const isAlive = (entry) => {
  const [pid, started] = entry.split("-")
  return startOf(pid) === started
}

let created = 0

const createEntry = (folder, pid) => {
  created += 1
  const entry = `${pid}-${startOf(pid)}-${process.pid}.${created}`
  writeFileSync(join(folder, entry), "")
  return entry
}

/**
 * A lock that does not survive a killed holder. Every contender first creates a file named after its process and then
 * lists the folder, so that of two contenders at least one sees the other. Any contender may remove files of dead
 * processes. Two simultaneous contenders may both back off: retry after a random delay.
 */
export const tryLock = (folder) => {
  mkdirSync(folder, { recursive: true })
  const mine = [createEntry(folder, process.pid)]
  const remove = (entries) => {
    for (const entry of entries) rmSync(join(folder, entry), { force: true })
  }
  const others = readdirSync(folder).filter((entry) => !mine.includes(entry))
  const holder = others.find(isAlive)
  if (holder !== undefined) {
    remove(mine)
    return { held: true, pid: Number.parseInt(holder, 10) }
  }
  remove(others)
  return {
    held: false,
    foundStale: others.length > 0,
    release: () => remove(mine),
    share: (pid) => mine.push(createEntry(folder, pid))
  }
}
