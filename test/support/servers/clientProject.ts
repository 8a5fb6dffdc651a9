import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { compileFolder } from "./compiler.ts"

const execute = promisify(execFile)

/** What a new project uses, with nothing relaxed. */
const compilerOptions = {
  ...{ target: "ES2022", module: "NodeNext", strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  ...{ noUncheckedIndexedAccess: true, moduleDetection: "force", outDir: "out" },
  ...{ typeRoots: [join(projectRoot, "node_modules", "@types")], types: ["node"] }
}

/** Builds `dist/client` unless it is up to date. */
export const buildClientPackage = () => execute(process.execPath, [join(projectRoot, "scripts", "buildClient.mjs")])

/** An empty project outside of ours, with the client installed from its tarball. */
export const makeClientProject = async () => {
  await buildClientPackage()
  const folder = mkdtempSync(join(tmpdir(), "contracting-client-"))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, "out"))
  write("package.json", JSON.stringify({ name: "empty", private: true, type: "module" }))
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  await execute("npm", ["pack", join(projectRoot, "dist", "client"), "--silent"], { cwd: folder })
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
  await execute("npm", ["install", `./${tarball}`, "--offline", "--no-audit", "--no-fund", "--silent"], { cwd: folder })

  return {
    folder,
    tarball: join(folder, tarball),
    write,

    /** Compiles all programs. Returns the errors, one per line. */
    compile: () => compileFolder(folder),

    /** The file that node runs, of a compiled program. */
    programOf: (name: string) => join(folder, "out", name.replace(/\.ts$/, ".js")),

    /** Runs a compiled program and returns what it printed. */
    run: async (name: string, env: Readonly<Record<string, string>>) => {
      const program = join(folder, "out", name.replace(/\.ts$/, ".js"))
      const { stdout } = await execute(process.execPath, [program], { cwd: folder, env: { ...process.env, ...env } })
      return stdout
    },

    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

export type ClientProject = Awaited<ReturnType<typeof makeClientProject>>
