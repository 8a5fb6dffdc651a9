import { type JWTPayload, SignJWT } from "jose"

export const clientSecret = "the tracker's client secret"

/** A bearer as the tracker signs it, with these claims and no others. */
export const trackerToken = (claims: JWTPayload = {}, secret = clientSecret, alg = "HS256") =>
  new SignJWT(claims).setProtectedHeader({ alg, typ: "JWT" }).sign(new TextEncoder().encode(secret))

const person = {
  accountId: "712020:0c4d2b1e-0000-4000-8000-00aa11bb22cc",
  displayName: "Rui Tavares",
  active: true,
  accountType: "atlassian"
}

export interface Told {
  readonly id?: string
  readonly key?: string
  readonly title?: string
  readonly state?: string
  readonly timestamp?: number
  readonly webhookIds?: ReadonlyArray<number>
}

const changelogs = {
  created: { id: "58211", items: [{ field: "summary", fieldId: "summary", fromString: null, toString: "Summary" }] },
  updated: { id: "58240", items: [{ field: "status", fieldId: "status", fromString: "To Do", toString: "Done" }] },
  deleted: undefined
}

const typeNames = { created: "issue_created", updated: "issue_generic", deleted: undefined }

export type Kind = keyof typeof changelogs

/** The body of a webhook with all that a tracker sends along. */
export const webhookOf = (kind: Kind, told: Told = {}) => {
  const { id = "24117", key = "NORTH-318", state = "To Do", timestamp = 1_781_253_604_120, title = "Pump" } = told
  const [project] = key.split("-")
  return {
    timestamp,
    webhookEvent: `jira:issue_${kind}`,
    ...(typeNames[kind] === undefined ? {} : { issue_event_type_name: typeNames[kind] }),
    user: { self: "https://api.atlassian.com/ex/jira/0c9f/rest/api/2/user", ...person, timeZone: "Europe/Lisbon" },
    issue: {
      id,
      self: `https://api.atlassian.com/ex/jira/0c9f/rest/api/2/issue/${id}`,
      key,
      fields: {
        summary: title,
        description: null,
        issuetype: { id: "10021", name: "Task", subtask: false, hierarchyLevel: 0 },
        project: { id: "10044", key: project, name: "Retainer", projectTypeKey: "software", simplified: false },
        status: { id: "10102", name: state, statusCategory: { id: 2, key: "new", name: "New" } },
        priority: { id: "3", name: "Medium" },
        labels: ["billable"],
        assignee: null,
        creator: person,
        created: "2026-06-12T10:40:04.071+0100",
        timetracking: {},
        subtasks: [],
        workratio: -1,
        customfield_10031: 3.0
      }
    },
    ...(changelogs[kind] === undefined ? {} : { changelog: changelogs[kind] }),
    matchedWebhookIds: told.webhookIds ?? [1007]
  }
}
