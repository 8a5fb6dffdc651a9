import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { makeStartPageRoute } from "../../../src/http/server/pages/StartPage.ts"

describe("makeStartPageRoute", () => {
  it("links to the console where there is one", () => {
    const page = { path: "/console", respond: () => Effect.succeed({ status: 200, headers: {}, body: "" }) } as const
    const { respond } = makeStartPageRoute([page])
    // The page does not read the request.
    const { body } = Effect.runSync(respond(undefined as never))
    assert.include(body, `<a href="/console">`)
    assert.notInclude(body, "/docs")
  })
})
