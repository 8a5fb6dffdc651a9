import { Option, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { EncodedPage } from "../../../src/domain/EncodedJson.ts"
import { data } from "../../../src/http/api/Envelope.ts"
import { PagedList } from "../../../src/http/server/response/HandlerResult.ts"
import type { HttpResponse } from "../../../src/http/server/response/HttpResponse.ts"
import { makeResponseCheck } from "../../../src/http/server/response/ResponseCheck.ts"

const Note = Schema.Struct({ id: Schema.String, size: Schema.Int })
const checkNote = makeResponseCheck("notes.get", data(Note).ast)
const checkNotes = makeResponseCheck("notes.list", data(Schema.Array(Note)).ast)

const json = (body: HttpResponse["body"]): HttpResponse => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body
})
const messageOf = (mismatch: ReturnType<typeof checkNote>) =>
  Option.getOrUndefined(Option.map(mismatch, ({ message }) => message))

describe("makeResponseCheck", () => {
  it("accepts a body that matches the schema", () => {
    assert.isUndefined(messageOf(checkNote(json('{"data":{"id":"a","size":1}}'))))
    assert.isUndefined(messageOf(checkNotes(json(Buffer.from('{"data":[{"id":"a","size":1}]}')))))
  })

  it.each([
    ["a missing field", '{"data":{"id":"a"}}', "size"],
    ["a field of another type", '{"data":{"id":"a","size":1.5}}', "size"],
    ["a field that is not in the schema", '{"data":{"id":"a","size":1,"secret":"s"}}', "secret"],
    ["a body without its envelope", '{"id":"a","size":1}', "data"]
  ])("reports the operation and %s", (_, body, field) => {
    const message = messageOf(checkNote(json(body))) ?? ""
    assert.include(message, "The response of notes.get does not match its schema")
    assert.include(message, field)
  })

  it("checks only the first page of a list that is written in pages", () => {
    const page = (text: string) => new PagedList(new EncodedPage(text, undefined), () => assert.fail("reads one page"))
    assert.isUndefined(messageOf(checkNotes(json(page('{"id":"a","size":1}')))))
    assert.include(messageOf(checkNotes(json(page('{"id":"a"}')))), "size")
  })

  it("ignores responses that are not JSON", () => {
    assert.isUndefined(messageOf(checkNote({ status: 200, headers: { "content-type": "image/png" }, body: "bytes" })))
    assert.isUndefined(messageOf(checkNote({ status: 304, headers: {}, body: undefined })))
  })
})
