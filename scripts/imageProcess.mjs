import { spawn } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Mounts the files of the image read-only, in a namespace that ends with the process. */
const enterImage = `mount --bind "$ROOT" "$ROOT" && mount --bind /dev "$ROOT/dev" && mount --bind /proc "$ROOT/proc" &&
mount -o remount,ro,bind "$ROOT" && exec env -i "$@"`

/** How the image wants to be run, and the folder of its files. */
export const openImage = ({ buildah }, tag) => {
  const { config } = JSON.parse(buildah("inspect", "--type=image", tag)).Docker
  const root = buildah("mount", buildah("from", "--pull-never", tag))
  // Otherwise the runtime of containers creates them.
  for (const name of ["dev", "proc"]) mkdirSync(join(root, name), { recursive: true })
  return { config, root }
}

/** Runs a command of the image with its user, its environment and a read-only root. */
export const startImage = ({ config, root }, command, settings) => {
  const [uid, gid] = config.User.split(":")
  const environment = [...config.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]
  const identity = ["--setuid", uid, "--setgid", gid, "--root", root, "--wd", config.WorkingDir]
  const program = [...config.Entrypoint, ...(command ?? config.Cmd)]
  const child = spawn(
    "unshare",
    ["--mount", "sh", "-c", enterImage, "sh", ...environment, "unshare", ...identity, ...program],
    { env: { PATH: process.env.PATH, ROOT: root }, stdio: ["ignore", "pipe", "pipe"] }
  )
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data))
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)))
  return { child, ended, output: () => output }
}

/** A line of the status of a process, such as VmRSS or Uid. */
export const statusOf = ({ child }, name) =>
  new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]

/** Whether the process can write nowhere in its root. The fields before: ids, device, and the root of the mount. */
export const hasReadOnlyRoot = ({ child }) =>
  /^(?:\S+ ){4}\/ ro[, ]/m.test(readFileSync(`/proc/${child.pid}/mountinfo`, "utf8"))
