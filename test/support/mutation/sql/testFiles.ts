import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../../../../tools/local/ProjectRoot.ts"

/** Tests that use the statements of an area, beside those in folders of its name. */
const others: Readonly<Record<string, ReadonlyArray<string>>> = {
  payments: ["http/reports/", "layers/journal/", "http/tenancy/export.test", "http/invoicing/eInvoices"],
  delivery: ["workers/relay/", "workers/janitor/", "http/integrations/deletion", "layers/integrations/failing"],
  mails: ["workers/delivery/email", "layers/delivery/mailDeliveries"],
  integrations: ["workers/intake/", "workers/delivery/"],
  trackers: ["workers/intake/"],
  events: ["workers/relay/"],
  journal: ["http/payments/", "http/reports/"],
  erasure: ["workers/janitor/"],
  settlement: ["http/payments/", "http/creditNotes/"],
  tenancy: ["workers/janitor/"]
}

const areaOf = (file: string) => /^src\/layers\/(?:infra\/)?(\w+)/.exec(file)?.[1] ?? ""

const pathOf = (name: string) => join(projectRoot, "test", name)

/** Whether all of the service that a file tests runs in processes of a bundle, which no mutant reaches. */
const testsBundle = (name: string) =>
  /servers\/(killableApis|killableServers)\.ts"/.test(readFileSync(pathOf(name), "utf8"))

const all = () =>
  readdirSync(join(projectRoot, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".test.ts"))

/** The tests that may detect mutants in files of `src/layers`, the likeliest first. */
export const testFilesOf = (files: Iterable<string>): ReadonlyArray<string> => {
  const areas = [...new Set(Array.from(files, areaOf))]
  const places = [
    ...areas.flatMap((area) => [`http/${area}/`, `layers/${area}/`, `layers/infra/${area}/`, `workers/${area}/`]),
    ...areas.flatMap((area) => others[area] ?? [])
  ]
  const names = all()
  const found = places.flatMap((place) => names.filter((name) => name.startsWith(place) && !testsBundle(name)))
  return Array.from(new Set(found), pathOf)
}
