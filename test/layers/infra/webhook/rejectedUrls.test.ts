import { afterAll, assert, describe, it } from "vitest"
import { countConnectionAttempts, makeWebhookClient } from "./webhookClient.ts"

const notPublic = /^must lead to a public address, but \S+ is not one$/
const hasPrivate = /^must lead to public addresses only, but \S+ has one that is not$/
const privateName = /^must have a public host such as hooks\.example\.com, but is \S+$/
const notHttps = /^must start with https:\/\//
const badPort = /^must use port 443 or 8443, not \d+$/
const noAddress = /^must have a host that resolves: DNS has no address for \S+$/
const userinfo = /^must not contain a user name or password/
const lastDot = /^must not have a dot at the end/
const incomplete = /^must be a complete URL such as https:/

/** Hosts that are addresses in any notation. */
const literals = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "127.0.0.1.",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0x7f.0x0.0x0.0x1",
  "017700000001",
  "0177.0.0.1",
  "0177.0x0.0.1",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "%30x7f.1",
  "0",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "167772161",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "3232235521",
  "100.64.0.1",
  "100.127.255.255",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "169.254.170.2",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.175.48.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "4294967295",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::127.0.0.1]",
  "[::10.0.0.1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:10.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::10.0.0.1]",
  "[64:ff9b:1:ffff::1]",
  "[100::1]",
  "[2001::1]",
  "[2001:2::1]",
  "[2001:3::1]",
  "[2001:4:112::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[2001:30::1]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::1]",
  "[2620:4f:8000::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[4000::1]",
  "[8000::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[febf::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[ff0e::1]"
].map((host) => [`https://${host}/hook`, notPublic] as const)

const names = {
  "public.example.com": [["93.184.216.34"]],
  "loopback.example.com": [["127.0.0.1"]],
  "loopback6.example.com": [["::1"]],
  "metadata.example.com": [["169.254.169.254"]],
  "private.example.com": [["10.1.2.3"]],
  "unique.example.com": [["fd12::1"]],
  "mapped.example.com": [["::ffff:192.168.0.1"]],
  "zoned.example.com": [["fe80::1%lo"]],
  "nat64.example.com": [["64:ff9b::7f00:1"]],
  "first.example.com": [["10.0.0.1", "93.184.216.34"]],
  "last.example.com": [["93.184.216.34", "2606:2800:220:1::1", "127.0.0.1"]],
  "kinds.example.com": [["93.184.216.34", "::1"]],
  "nonsense.example.com": [["not an address"]]
}

const byName = [
  ...Object.keys(names)
    .slice(1)
    .map((name) => [`https://${name}/hook`, hasPrivate] as const),
  ["https://LOOPBACK.example.com/", hasPrivate],
  ["https://loopback%2Eexample.com/", hasPrivate],
  ["https://unknown.example.com/", noAddress],
  ["https://localhost/", privateName],
  ["https://LocalHost:8443/", privateName],
  ["https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", privateName],
  ["https://%6cocalhost/", privateName],
  ["https://hooks.localhost/", privateName],
  ["https://printer.local/", privateName],
  ["https://metadata.google.internal/", privateName],
  ["https://internal/", privateName],
  ["https://postgres/", privateName],
  ["https://localhost./", lastDot],
  ["https://hooks.localhost./", lastDot],
  ["https://loopback.example.com./", lastDot],
  ["https://public.example.com../", lastDot]
] as const

const bySyntax = [
  ["http://public.example.com/", notHttps],
  ["http://93.184.216.34/", notHttps],
  ["http://127.0.0.1:3000/", notHttps],
  ["ftp://public.example.com/", notHttps],
  ["file:///etc/passwd", notHttps],
  ["gopher://127.0.0.1:6379/_FLUSHALL", notHttps],
  ["data:text/plain,hello", notHttps],
  ["javascript:alert(1)", notHttps],
  ["unix:/run/docker.sock", notHttps],
  ["https://alice@public.example.com/", userinfo],
  ["https://alice:secret@public.example.com/", userinfo],
  ["https://:secret@public.example.com/", userinfo],
  ["https://public.example.com@127.0.0.1/", userinfo],
  ["https://public.example.com%40@127.0.0.1/", userinfo],
  ["https://127.0.0.1\\@public.example.com/", notPublic],
  ["https://127.0.0.1#@public.example.com/", notPublic],
  ["https:127.0.0.1/", notPublic],
  ["https:\\\\127.0.0.1\\", notPublic],
  ["  https://127.0.0.1/  ", notPublic],
  ["https://127.0\n.0.\t1/", notPublic],
  ["https://public.example.com:80/", badPort],
  ["https://public.example.com:22/", badPort],
  ["https://public.example.com:0/", badPort],
  ["https://93.184.216.34:6379/", badPort],
  ["https://public.example.com:99999/", incomplete],
  ["https://256.256.256.256/", incomplete],
  ["https://[::1%25lo]/", incomplete],
  ["https://[fe80::1%eth0]/", incomplete],
  ["https://exa mple.com/", incomplete],
  ["https://", incomplete],
  ["//public.example.com/", incomplete],
  ["public.example.com", incomplete],
  ["", incomplete]
] as const

describe("requireAllowedUrl", () => {
  const { check, send, stop } = makeWebhookClient({ names })
  afterAll(stop)

  it.each([...literals, ...byName, ...bySyntax])("rejects %j without connecting to it", async (url, message) => {
    const connectionAttempts = countConnectionAttempts()
    const [detail, ...more] = (await check(url))?.details ?? []
    assert.deepInclude(detail, { field: "config.url", constraint: "format" })
    assert.match(detail?.message ?? "", message)
    assert.lengthOf(more, 0)
    const sent = await send({ url })
    assert.deepStrictEqual(sent, {
      delivered: false,
      latencyMs: sent.latencyMs,
      error: `The URL ${detail?.message}`
    })
    assert.strictEqual(connectionAttempts(), 0)
  })
})
