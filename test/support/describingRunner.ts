import type { RunnerTestCase } from "vitest"
import { VitestTestRunner } from "vitest/runners"
import { failureDescribers } from "./servers/failureDescribers.ts"

/** Prints what the services logged and what the page shows when a test fails. A hook would run for one file per worker. */
export default class DescribingRunner extends VitestTestRunner {
  async onTaskFinished({ name, result }: RunnerTestCase) {
    if (result?.state !== "fail") return
    const texts = await Promise.all(Array.from(failureDescribers, (describe) => describe()))
    for (const text of texts.filter((one) => one !== "")) console.error(`"${name}" failed. ${text}`)
  }
}
