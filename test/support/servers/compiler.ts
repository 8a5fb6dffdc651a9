import { realpathSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"

const readConfig = (folder: string) => {
  const file = join(folder, "tsconfig.json")
  const parsed = ts.getParsedCommandLineOfConfigFile(file, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"))
    }
  })
  if (parsed === undefined) throw new Error(`${file} is no configuration`)
  return parsed
}

/**
 * Compiles the project of a folder like `tsc`. Returns the errors, one per line, such as
 * `program.ts(3,5): error TS2353: …`. It checks the files in the folder alone, also the packages installed there: what
 * they import from elsewhere has a type check of its own, and takes most of the time.
 */
export const compileFolder = (folder: string) => {
  const { errors, fileNames, options } = readConfig(folder)
  const program = ts.createProgram({ rootNames: fileNames, options, configFileParsingDiagnostics: errors })
  const ours = `${realpathSync(folder)}/`
  const files = program.getSourceFiles().filter(({ fileName }) => realpathSync(fileName).startsWith(ours))
  const diagnostics = files.flatMap((file) => ts.getPreEmitDiagnostics(program, file))
  const emitted = options.noEmit === true ? [] : program.emit().diagnostics
  const text = ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics([...diagnostics, ...emitted]), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => "\n"
  })
  return text.split("\n").filter((line) => /^\S/.test(line))
}
