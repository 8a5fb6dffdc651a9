import { execFileSync } from "node:child_process"
import { cpSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The packages of Debian that Node.js needs, and those that npm needs besides. */
const runtimePackages = ["libc6", "libgcc-s1", "libstdc++6"]
const buildPackages = [...runtimePackages, "coreutils", "dash"]

const runTool = (command, args, options = {}) => {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options })
  } catch (error) {
    if (error.code === "ENOENT") throw new Error(`${command} is missing: apt-get install buildah mmdebstrap`)
    throw new Error(`${command} ${args.join(" ")} failed:\n${error.stdout}${error.stderr}`)
  }
}

/** buildah with its images in a folder. Isolation by chroot needs no cgroups, which a container often lacks. */
export const makeBuildah = (folder) => {
  const storage = ["--root", join(folder, "images"), "--runroot", join(folder, "run")]
  const buildah = (...args) => runTool("buildah", [...storage, ...args]).trim()
  const build = (tag, context, ...args) =>
    buildah("build", "--isolation=chroot", "--format=docker", ...args, "--tag", tag, context)
  return { buildah, build }
}

/** The files of Debian packages, without running their installation. */
const extractPackages = (packages, file) =>
  runTool("mmdebstrap", [
    "--variant=extract",
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    `--include=${packages.join(",")}`,
    "bookworm",
    file
  ])

/** npm trusts the certificates of this machine, whose way to the registry may be through a proxy. */
const certificates = "/etc/ssl/certs/ca-certificates.crt"

const nodeContainerfile = `FROM scratch
ADD packages.tar /
COPY certificates.crt ${certificates}
ENV HOME=/root NODE_EXTRA_CA_CERTS=${certificates}
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`

/** Two images that take the place of those of a registry: made of Debian's packages, and of the Node.js that runs this. */
export const buildLocalImages = ({ build }, folder) => {
  extractPackages(buildPackages, join(folder, "packages.tar"))
  cpSync(certificates, join(folder, "certificates.crt"), { dereference: true })
  cpSync(process.execPath, join(folder, "node"), { dereference: true })
  cpSync(dirname(dirname(process.env.npm_execpath)), join(folder, "npm"), { recursive: true })
  writeFileSync(join(folder, "Containerfile"), nodeContainerfile)
  build("localhost/node", folder)
  extractPackages(runtimePackages, join(folder, "packages.tar"))
  writeFileSync(join(folder, "Containerfile"), "FROM scratch\nADD packages.tar /\n")
  build("localhost/base", folder)
  return ["--build-arg=BUILD_IMAGE=localhost/node", "--build-arg=BASE_IMAGE=localhost/base"]
}
