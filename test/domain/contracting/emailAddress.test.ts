import { Either, Schema } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { EmailAddress } from "../../../src/domain/contracting/EmailAddress.ts"
import { caseCount } from "../../support/caseCount.ts"

const decode = Schema.decodeUnknownEither(EmailAddress)
const accepts = (address: unknown) => Either.isRight(decode(address))

const padTo = (domain: string, length: number) => `${"a".repeat(length - domain.length)}${domain}`

const valid = [
  "info@example.com",
  "a@b.co",
  "first.last@example.com",
  "a.b.c.d.e@example.com",
  "UPPER.Case@EXAMPLE.COM",
  "billing+2026@example.com",
  "billing+a+b@example.com",
  "+@example.com",
  "o'neil@example.ie",
  "'@example.com",
  "jean-luc@example.fr",
  "-dash-@example.com",
  "_under_score_@example.com",
  "__@example.com",
  "12345@example.com",
  "1@example.com",
  "office@123.com",
  "office@1a.com",
  "office@a1.com",
  "office@3com.example",
  "office@a-b.com",
  "office@a--b.com",
  "office@xn--bcher-kva.example",
  "office@mail.dept.example.co.uk",
  "office@a.b.c.d.e.f.g.example.org",
  "office@example.museum",
  "office@example.photography",
  "office@example.travelersinsurance",
  "customer/department=shipping@example.com",
  "$A12345@example.com",
  "!def!xyz%abc@example.com",
  "user%example.com@example.org",
  "disposable.style.email.with+symbol@example.com",
  ...[..."!#$%&'*+-/=?^_`{|}~"].flatMap((mark) => [`${mark}@example.com`, `a${mark}b.${mark}@example.com`]),
  "!#$%&'*+-/=?^_`{|}~@example.com",
  `${"l".repeat(64)}@example.com`,
  padTo("@example.com", 199),
  padTo("@example.com", 200),
  `a@${"d".repeat(194)}.com`
]

const invalid = [
  "",
  "@",
  "a",
  "example.com",
  "a.example.com",
  "a@",
  "@example.com",
  "a@@example.com",
  "a@b@example.com",
  "a@example.com@",
  "@a@example.com",
  "a@example.com, b@example.com",
  "a@example.com;b@example.com",
  ".a@example.com",
  "a.@example.com",
  "a..b@example.com",
  "a...b@example.com",
  ".@example.com",
  "..@example.com",
  " a@example.com",
  "a@example.com ",
  "a b@example.com",
  "a @example.com",
  "a@ example.com",
  "a@exam ple.com",
  "a@example .com",
  "a@example.com\n",
  "\na@example.com",
  "a@example.com\r\nBcc: b@example.com",
  "a\t@example.com",
  "a@example",
  "a@localhost",
  "a@com",
  "a@.com",
  "a@example.",
  "a@example.com.",
  "a@.example.com",
  "a@example..com",
  "a@.",
  "a@..",
  "a@-example.com",
  "a@example-.com",
  "a@-.com",
  "a@example.-com",
  "a@example.com-",
  "a@sub.-example.com",
  "a@sub-.example.com",
  "a@exa_mple.com",
  "a@exa!mple.com",
  "a@exa+mple.com",
  "a@example.com/path",
  "a@example.com:25",
  "a@example.com?subject=x",
  "a@example.c",
  "a@example.1",
  "a@example.12",
  "a@example.c0m",
  "a@example.co1",
  "a@example.c-m",
  "a@example.xn--p1ai",
  "a@192.168.0.1",
  "a@127.1",
  "a@[192.168.0.1]",
  "a@[IPv6:2001:db8::1]",
  '"a"@example.com',
  '"a b"@example.com',
  '"a@b"@example.com',
  '"".a@example.com',
  "a(comment)@example.com",
  "(comment)a@example.com",
  "a@example.com(comment)",
  "<a@example.com>",
  "Name <a@example.com>",
  "mailto:a@example.com",
  "a\\@example.com",
  "a,b@example.com",
  "a:b@example.com",
  "a;b@example.com",
  "a[b]@example.com",
  "jürgen@example.com",
  "a@exämple.com",
  "a@example.cöm",
  "用户@example.com",
  "a@例子.中国",
  "\u{1F600}@example.com",
  "a@\u{1F600}.com",
  "a\u200b@example.com",
  "a\u00a0@example.com",
  "\ufeffa@example.com",
  "a@example\u3002com",
  "\uff41@example.com",
  "a\u0000@example.com",
  "a@example.com\u0000",
  "\ud800@example.com",
  padTo("@example.com", 201),
  `a@${"d".repeat(195)}.com`,
  `${"a".repeat(10_000)}@example.com`
]

const describeAddress = (address: string) =>
  address.length > 60 ? `${address.length} characters` : JSON.stringify(address)
const toCases = (addresses: ReadonlyArray<string>) =>
  addresses.map((address) => [describeAddress(address), address] as const)

describe("EmailAddress", () => {
  it.each(toCases(valid))("accepts %s", (_, address) => {
    assert.deepStrictEqual(decode(address), Either.right(address))
  })

  it.each(toCases(invalid))("rejects %s", (_, address) => {
    assert.isFalse(accepts(address))
  })

  it.each([null, undefined, 1, true, {}, [], ["a@example.com"]])("rejects %j, which is not a string", (value) => {
    assert.isFalse(accepts(value))
  })

  it("accepts generated addresses of up to 200 characters", () => {
    const addresses = fc.emailAddress({ size: "medium" }).filter(({ length }) => length <= 200)
    fc.assert(
      fc.property(addresses, (address) => assert.deepStrictEqual(decode(address), Either.right(address))),
      { numRuns: caseCount(200, 1000) }
    )
  })

  it("rejects text without an @ and text with two of them", () => {
    const without = fc.string({ unit: "binary", maxLength: 200 }).map((text) => text.replaceAll("@", ""))
    fc.assert(
      fc.property(without, without, without, (a, b, c) => {
        assert.isFalse(accepts(a))
        assert.isFalse(accepts(`${a}@${b}@${c}`))
      })
    )
  })

  it("accepts only printable ASCII of up to 200 characters", () => {
    const similar = fc.string({ unit: fc.constantFrom(..."aZ09.-_@+ \u{1F600}"), maxLength: 250 })
    const texts = fc.oneof(similar, fc.string({ unit: "binary", maxLength: 2000 }))
    fc.assert(
      fc.property(texts, (text) => {
        if (accepts(text)) assert.match(text, /^[\x21-\x7e]{1,200}$/)
      }),
      { numRuns: caseCount(200, 1000) }
    )
  })

  // A backtracking pattern would take longer than the timeout of the test.
  it.each(["a", "-", ".", "a-", "a.", "@", "a@", "-a", "a@a.", "a--", "!", "\u{1F600}"])(
    "decides on %s repeated a million times in linear time",
    (part) => {
      for (const [before, after] of [
        ["", ""],
        ["a@", ""],
        ["", "@example.com"],
        ["a@", "!"],
        ["a@", ".com"]
      ]) {
        for (const times of [60, 190, 1_000_000]) accepts(before + part.repeat(times) + after)
      }
    }
  )
})
