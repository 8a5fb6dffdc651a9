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
 * When a living process began, in whatever form the system tells it. A pid alone names nobody for long: the system
 * gives it to another process later. Zombies count as gone.
 */
export const startOf = (pid) => {
  try {
    return process.platform === "linux" ? fromProc(pid) : fromPs(pid)
  } catch {
    return undefined
  }
}

const isHeld = (flag) => {
  const [pid, started] = flag.split("-")
  return startOf(pid) === started
}

let raised = 0

const raise = (folder, pid) => {
  raised += 1
  const flag = `${pid}-${startOf(pid)}-${process.pid}.${raised}`
  writeFileSync(join(folder, flag), "")
  return flag
}

/**
 * A lock that a killed holder cannot leave shut. Every contender raises a flag named after its process and looks around
 * only then, so that of two at least one sees the other; flags of processes that are gone may be removed by anyone.
 * Two contenders at the same instant may both give way: try again after a moment.
 */
export const tryLock = (folder) => {
  mkdirSync(folder, { recursive: true })
  const mine = [raise(folder, process.pid)]
  const remove = (flags) => {
    for (const flag of flags) rmSync(join(folder, flag), { force: true })
  }
  const others = readdirSync(folder).filter((flag) => !mine.includes(flag))
  const held = others.find(isHeld)
  if (held !== undefined) {
    remove(mine)
    return { held: true, pid: Number.parseInt(held, 10) }
  }
  remove(others)
  return {
    held: false,
    foundStale: others.length > 0,
    release: () => remove(mine),
    share: (pid) => mine.push(raise(folder, pid))
  }
}
