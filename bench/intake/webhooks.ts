import { randomUUID } from "node:crypto"
import { SignJWT } from "jose"

/** Jira signs its bearer tokens with the client secret, and names the matched webhooks by id. */
export const clientSecret = "the client secret of the bench"
export const webhookId = 1007

/** A webhook request, and the values of its row. */
export interface Webhook {
  readonly identifier: string
  readonly issue: string
  readonly key: string
  readonly happenedAt: number
  readonly body: string
  readonly bearer: string
}

const site = "https://api.atlassian.com/ex/jira/0c9f6a1e-1111-4222-8333-9a8b7c6d5e4f/rest/api/2"

const makePerson = (name: string, account: string) => ({
  self: `${site}/user?accountId=${account}`,
  accountId: account,
  avatarUrls: Object.fromEntries(
    [16, 24, 32, 48].map((size) => [`${size}x${size}`, `https://avatars.example/${account}/${size}.png`])
  ),
  displayName: name,
  active: true,
  timeZone: "Europe/Lisbon",
  accountType: "atlassian"
})

const ines = makePerson("Ines Duarte", "712020:aa11bb22-0000-4000-8000-ccddeeff0011")
const rui = makePerson("Rui Tavares", "712020:0c4d2b1e-0000-4000-8000-00aa11bb22cc")

const description =
  "The controller of pump 3 loses its set point after a power cut.\n\n* Read the version on site\n* Flash 4.2.1 over the service port\n* Let it run for an hour under load, and write the pressures down\n\n{noformat}E17 EEPROM CRC 0x00 != 0x5A{noformat}\n".repeat(
    4
  )

const customFields = Object.fromEntries(Array.from({ length: 24 }, (_, n) => [`customfield_${10_000 + n}`, null]))

const states = ["To Do", "In Progress", "In Review", "Done"]

const makeIssueFields = (n: number) => ({
  summary: `Replace pump controller firmware, step ${n}`,
  description,
  issuetype: { id: "10021", name: "Task", subtask: false, hierarchyLevel: 0 },
  project: { id: "10044", key: "NORTH", name: "Northwind retainer", projectTypeKey: "software", simplified: false },
  status: { id: `${10_102 + (n % 4)}`, name: states[n % 4], statusCategory: { id: 2, key: "new", name: "New" } },
  priority: { id: "3", name: "Medium" },
  labels: ["billable"],
  assignee: rui,
  creator: ines,
  reporter: ines,
  created: "2026-06-12T10:40:04.071+0100",
  timetracking: {},
  components: [],
  issuelinks: [],
  subtasks: [],
  workratio: -1,
  ...customFields
})

const makeStatusChange = (n: number) => ({
  field: "status",
  fieldtype: "jira",
  fieldId: "status",
  from: `${10_102 + ((n + 3) % 4)}`,
  fromString: states[(n + 3) % 4],
  to: `${10_102 + (n % 4)}`,
  toString: states[n % 4]
})

const signBearer = (n: number) =>
  new SignJWT({ jti: String(n) })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(clientSecret))

const makeWebhook = async (n: number, issueNumber: number): Promise<Webhook> => {
  const happenedAt = 1_781_253_604_120 + n
  const [issue, key] = [`${20_000 + issueNumber}`, `NORTH-${issueNumber}`]
  const body = {
    timestamp: happenedAt,
    webhookEvent: "jira:issue_updated",
    issue_event_type_name: "issue_generic",
    user: ines,
    issue: { id: issue, self: `${site}/issue/${issue}`, key, fields: makeIssueFields(n) },
    changelog: { id: `${58_240 + n}`, items: [makeStatusChange(n)] },
    matchedWebhookIds: [webhookId]
  }
  return { identifier: randomUUID(), issue, key, happenedAt, body: JSON.stringify(body), bearer: await signBearer(n) }
}

/** One of ten is a duplicate, as when Jira retries after a lost response. */
const duplicateInterval = 10
let createdCount = 0

/** Makes webhooks that go round `issues` issues, each with a bearer token of its own. */
export const makeWebhooks = async (count: number, issues: number) => {
  const webhooks: Array<Webhook> = []
  while (webhooks.length < count) {
    const duplicate =
      webhooks.length % duplicateInterval === duplicateInterval - 1 ? webhooks.at(-duplicateInterval / 2) : undefined
    const n = createdCount++
    webhooks.push(duplicate ?? (await makeWebhook(n, n % issues)))
  }
  return webhooks
}
