import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type InlineConfig, type TestSpecification } from "vitest/node"

/**
 * Tests that need no server, without those that draw PDFs, decode images or read the whole API, which take half of the
 * time. `npm run test:quick` and `npm run mutation` run only these.
 */
export const quick = [
  "test/console/{bundle,fieldErrors}.test.ts",
  "test/docs.test.ts",
  "test/domain/**/*.test.ts",
  "test/bench/neighbours/bounds.test.ts",
  "test/packaging/{compose,dockerfile,kubernetes,packages,systemd}.test.ts",
  "test/scripts/*.test.ts",
  "test/bench/ratio.test.ts",
  "test/http/server/{boundedDecoder,clientAddress,jsonStructure,rateLimit,responseCheck,startPage,pageHtml,unavailableLog}.test.ts",
  "test/layers/infra/{concurrency,config,secrets}/*.test.ts",
  "test/layers/infra/auth/{coalescer,expiringCache,signInCodes}.test.ts",
  "test/layers/infra/nats/throttle.test.ts",
  "test/layers/infra/postgres/{idGenerator,migrationRules}.test.ts",
  "test/layers/infra/pdf/{bidiText,unchangedFiles}.test.ts",
  "test/layers/infra/postgres/connection/values.test.ts",
  "test/layers/infra/telemetry/useCaseSpans.test.ts",
  "test/layers/trackers/intake/*.test.ts",
  "test/layers/infra/webhook/rejectedUrls.test.ts",
  "test/workers/delivery/sendSlots.test.ts"
]

/** Tests that take longest, also those of small files, which vitest would run last. */
const long =
  /test\/(workers\/chaos|client|dev|drills|walkthrough|commands|testWatch|http\/server\/fuzz|http\/tenancy\/roles|console\/(accessibility|totals))\b/

/** Spreads the long files over the first half, so that none runs alone at the end, and they do not slow each other down. */
class SpreadLong extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => long.test(moduleId)
    const spread = sorted.filter((file) => !isLong(file))
    const longFiles = sorted.filter(isLong)
    const distance = Math.floor(spread.length / 2 / (longFiles.length + 1))
    for (const [index, file] of longFiles.entries()) spread.splice((index + 1) * (distance + 1), 0, file)
    return spread
  }
}

/**
 * One for each core, and at least two. More would wait less and cost more: each loads and compiles everything again, and
 * they push each other out of the caches. Four workers on two cores took half as much CPU again, and half as long again.
 */
const workerCount = Math.max(2, availableParallelism())

/**
 * Long enough for a host that gives half of its time to others. With NATS servers that are killed, a condition may take
 * several times as long.
 */
const testTimeout = process.env["TEST_NATS_CLUSTER"] === undefined ? 90_000 : 180_000

/**
 * A worker needs so much in the end; the collector need not find out by itself, and has less to copy. The threads of a
 * parallel collector mostly wait for each other on cores that are busy with other processes.
 */
const heapOptions = [
  "--initial-old-space-size=1024",
  "--min-semi-space-size=64",
  "--max-semi-space-size=128",
  "--single-threaded-gc"
]

/** Settings of all projects. */
export const common: InlineConfig = {
  pool: "forks",
  // Loading the packages takes longer than most files take to run, so files share what a worker has loaded.
  isolate: false,
  // A constant number: the pool ends idle workers above the minimum, and can give a file to one that is ending.
  minWorkers: workerCount,
  maxWorkers: workerCount,
  poolOptions: { forks: { execArgv: heapOptions } },
  testTimeout,
  hookTimeout: 120_000,
  sequence: { sequencer: SpreadLong }
}

export default defineConfig({
  test: {
    ...common,
    // Vitest runs one project after the other, with workers of its own. So `npm test` runs only the second.
    projects: [
      { extends: true, test: { name: "quick", include: quick } },
      {
        extends: true,
        test: {
          name: "all",
          include: ["test/**/*.test.ts"],
          globalSetup: "test/support/servers/globalSetup.ts",
          runner: "test/support/describingRunner.ts"
        }
      }
    ]
  }
})
