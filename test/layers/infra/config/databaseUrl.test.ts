import { assert, describe, it } from "vitest"
import { splitDatabaseUrl } from "../../../../src/layers/infra/config/DatabaseUrl.ts"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"

describe("DATABASE_URL", () => {
  it.each([
    ["postgres://one:5432/name", ["postgres://one:5432/name"]],
    [
      "postgres://user:p%40ss@one:5432,two:5433/name?sslmode=require",
      ["postgres://user:p%40ss@one:5432/name?sslmode=require", "postgres://user:p%40ss@two:5433/name?sslmode=require"]
    ],
    ["postgresql://[::1]:1,[::2]:2/name", ["postgresql://[::1]:1/name", "postgresql://[::2]:2/name"]],
    ["postgres:///name?host=/var/run/postgresql", ["postgres:///name?host=/var/run/postgresql"]]
  ])("%s names the servers %o", (url, servers) => {
    assert.deepStrictEqual(splitDatabaseUrl(url), servers)
  })

  it.each(["one:5432/name", "http://one/name", "postgres://one:port/name", "postgres://one:5432,two:port/name"])(
    "rejects %s",
    async (DATABASE_URL) => {
      const { errors } = await settingsErrors({ DATABASE_URL })
      assert.deepStrictEqual(errors, ["DATABASE_URL must be a URL starting with postgres:// or postgresql://"])
    }
  )
})
