import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const nearestWithPackage = (folder: string): string =>
  existsSync(join(folder, "package.json")) || dirname(folder) === folder ? folder : nearestWithPackage(dirname(folder))

/** Searches upwards, because this file runs from `src` in tests and from the bundle otherwise. */
export const projectRoot = nearestWithPackage(dirname(fileURLToPath(import.meta.url)))
