import { assert, describe, it } from "vitest"
import { EmailAddress } from "../../../src/domain/contracting/EmailAddress.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

describe("EmailAddress", () => {
  it.each<[address: string, message: string]>([
    ["example.com", "must be an email address with an @"],
    ["@example.com", "must have a name before the @"],
    [".a@example.com", "must not have a dot at the start or end of the part before the @"],
    ["a.@example.com", "must not have a dot at the start or end of the part before the @"],
    ["a..b@example.com", "must not have two dots in a row before the @"],
    ["a b@example.com", "has a character before the @ that is not allowed in an email address"],
    ["a@b@example.com", "has a character before the @ that is not allowed in an email address"],
    ["a@example", "must have a domain with a dot after the @"],
    ["a@", "must have a domain with a dot after the @"],
    ["a@-example.com", "must have a domain of letters, digits and inner hyphens after the @"],
    ["a@exam_ple.com", "must have a domain of letters, digits and inner hyphens after the @"],
    ["a@example..com", "must have a domain of letters, digits and inner hyphens after the @"],
    ["a@example.c", "must end in a top-level domain of at least two letters"],
    ["a@example.c0m", "must end in a top-level domain of at least two letters"],
    ["a@10.0.0.1", "must end in a top-level domain of at least two letters"]
  ])("says what is wrong with %s", (address, message) => {
    assert.deepStrictEqual(schemaErrorsOf(EmailAddress, address), [`body format: ${message}`])
  })
})
