import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { buildSync } from "esbuild"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { compileFolder } from "./compiler.ts"

const settings = {
  extends: join(projectRoot, "tsconfig.json"),
  compilerOptions: { incremental: false, tsBuildInfoFile: null, plugins: [] },
  include: ["*.ts"]
}

const execute = promisify(execFile)

/** A folder for programs that call the service, with symlinks to our packages and sources. */
export const makeProgramFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-program-"))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const name of ["node_modules", "src"]) symlinkSync(join(projectRoot, name), join(folder, name), "dir")
  write("package.json", JSON.stringify({ type: "module" }))
  write("tsconfig.json", JSON.stringify(settings))

  /** Bundles a program for node. */
  const build = (name: string) => {
    const outfile = join(folder, `${name}.mjs`)
    buildSync({
      entryPoints: [join(folder, name)],
      outfile,
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      logLevel: "silent"
    })
    return outfile
  }

  return {
    write,
    read: (name: string) => readFileSync(join(folder, name), "utf8"),
    build,

    shell: (command: string) => execute("bash", ["-euo", "pipefail", "-c", command], { cwd: folder }),

    /** The errors of the compiler, one per line. */
    typeErrors: () => compileFolder(folder),

    /** Runs a program and returns its output. */
    run: async (name: string, env: Readonly<Record<string, string>>) => {
      const { stdout } = await execute(process.execPath, [build(name)], {
        cwd: folder,
        env: { ...process.env, ...env }
      })
      return stdout
    },

    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

export type ProgramFolder = ReturnType<typeof makeProgramFolder>
