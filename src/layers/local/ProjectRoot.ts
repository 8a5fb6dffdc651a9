import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const nearestWithPackage = (folder: string): string =>
  existsSync(join(folder, "package.json")) || dirname(folder) === folder ? folder : nearestWithPackage(dirname(folder))

/** Found by looking upwards, because this file is read from `src` in tests and from the bundle otherwise. */
export const projectRoot = nearestWithPackage(dirname(fileURLToPath(import.meta.url)))
