import { afterAll, assert, beforeAll } from "vitest"

interface Started {
  readonly stop: () => Promise<unknown>
}

/** Starts something before all tests of a `describe` and stops it after them; calling gives them what was started. */
export const forAll = <A extends Started>(start: () => Promise<A>) => {
  let started: A | undefined
  beforeAll(async () => {
    started = await start()
  })
  afterAll(() => started?.stop())
  return (): A => started ?? assert.fail("it is there when the tests are, and no sooner")
}
