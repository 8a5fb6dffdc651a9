import { makeNatsNames } from "../../../src/layers/nats/NatsNames.ts"

const { subjectFilter, subject } = makeNatsNames("contracting").integrations

export const [tenant, mine, other] = ["tnt_1", "int_mine", "int_other"] as const

export const otherSubject = subject(tenant, other, "client.created")

/** What only the other integration's consumer may ever see. */
export const secret = "of the other one only"

export interface Attack {
  readonly attack: string
  /** With `API` in the place of what a client is told the subjects of JetStream begin with. */
  readonly subject: string
  readonly payload?: unknown
  readonly reply?: string
}

const own = { no_wait: true, batch: 1 }
const listening = { deliver_subject: "_INBOX.spy", ack_policy: "none" }
const pulling = { ack_policy: "none", filter_subject: subjectFilter(tenant, other) }
const consumer = (config: unknown) => ({ stream_name: "contracting-integrations", config })

const reading: ReadonlyArray<Attack> = [
  {
    attack: "pull from the other's consumer",
    subject: `API.CONSUMER.MSG.NEXT.contracting-integrations.${other}`,
    payload: own
  },
  { attack: "ask about the other's consumer", subject: `API.CONSUMER.INFO.contracting-integrations.${other}` },
  {
    attack: "read a message of the stream",
    subject: "API.STREAM.MSG.GET.contracting-integrations",
    payload: { last_by_subj: otherSubject }
  },
  {
    attack: "read a message past the stream's leader",
    subject: "API.DIRECT.GET.contracting-integrations",
    payload: { last_by_subj: otherSubject }
  },
  {
    attack: "read the last message of a subject past the leader",
    subject: `API.DIRECT.GET.contracting-integrations.${otherSubject}`
  },
  { attack: "list the consumers", subject: "API.CONSUMER.NAMES.contracting-integrations" },
  { attack: "list the consumers in full", subject: "API.CONSUMER.LIST.contracting-integrations" },
  { attack: "list the streams", subject: "API.STREAM.NAMES" },
  {
    attack: "ask about the stream",
    subject: "API.STREAM.INFO.contracting-integrations",
    payload: { subjects_filter: ">" }
  },
  {
    attack: "copy the stream to an inbox",
    subject: "API.STREAM.SNAPSHOT.contracting-integrations",
    payload: { deliver_subject: "_INBOX.spy" }
  }
]

const creating: ReadonlyArray<Attack> = [
  {
    attack: "create a consumer that is sent everything",
    subject: "API.CONSUMER.CREATE.contracting-integrations",
    payload: consumer(listening)
  },
  {
    attack: "create a named consumer",
    subject: "API.CONSUMER.CREATE.contracting-integrations.spy",
    payload: consumer({ ack_policy: "none", name: "spy" })
  },
  {
    attack: "create a named consumer with a filter",
    subject: `API.CONSUMER.CREATE.contracting-integrations.spy.${subjectFilter(tenant, other)}`,
    payload: consumer({ ...pulling, name: "spy" })
  },
  {
    attack: "create a durable consumer",
    subject: "API.CONSUMER.DURABLE.CREATE.contracting-integrations.spy",
    payload: consumer({ ack_policy: "explicit", durable_name: "spy" })
  },
  {
    attack: "change the own consumer",
    subject: `API.CONSUMER.CREATE.contracting-integrations.${mine}`,
    payload: consumer({ ack_policy: "explicit", durable_name: mine })
  },
  {
    attack: "point the own consumer at the other's subjects",
    subject: `API.CONSUMER.DURABLE.CREATE.contracting-integrations.${mine}`,
    payload: consumer({ ...pulling, ack_policy: "explicit", durable_name: mine })
  },
  {
    attack: "create a stream that copies ours",
    subject: "API.STREAM.CREATE.SPY",
    payload: { name: "SPY", sources: [{ name: "contracting-integrations" }] }
  }
]

const harming: ReadonlyArray<Attack> = [
  { attack: "publish as the other's event", subject: otherSubject, payload: "forged" },
  {
    attack: "publish as an own event",
    subject: subject(tenant, mine, "client.created"),
    payload: "forged"
  },
  {
    attack: "acknowledge for the other",
    subject: `$JS.ACK.contracting-integrations.${other}.1.2.1.1.0`,
    payload: "+ACK"
  },
  { attack: "delete the other's consumer", subject: `API.CONSUMER.DELETE.contracting-integrations.${other}` },
  { attack: "delete a message", subject: "API.STREAM.MSG.DELETE.contracting-integrations", payload: { seq: 2 } },
  { attack: "empty the stream", subject: "API.STREAM.PURGE.contracting-integrations" },
  { attack: "delete the stream", subject: "API.STREAM.DELETE.contracting-integrations" },
  {
    attack: "change the stream",
    subject: "API.STREAM.UPDATE.contracting-integrations",
    payload: { name: "contracting-integrations", subjects: ["contracting.nothing"], storage: "file", num_replicas: 1 }
  }
]

/** What is allowed, with the answer sent to where it does harm. */
const answering: ReadonlyArray<Attack> = [
  {
    attack: "pull into the other's subject",
    subject: `API.CONSUMER.MSG.NEXT.contracting-integrations.${mine}`,
    payload: own,
    reply: otherSubject
  },
  {
    attack: "ask into the other's subject",
    subject: `API.CONSUMER.INFO.contracting-integrations.${mine}`,
    reply: otherSubject
  },
  {
    attack: "acknowledge into the other's acknowledgement",
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: `$JS.ACK.contracting-integrations.${other}.1.2.1.1.0`
  },
  {
    attack: "acknowledge into the end of the other's consumer",
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: `$JS.API.CONSUMER.DELETE.contracting-integrations.${other}`
  },
  {
    attack: "acknowledge into the end of the stream",
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: "$JS.API.STREAM.DELETE.contracting-integrations"
  }
]

export const attacks = [...reading, ...creating, ...harming, ...answering]

/** Subjects somebody who wants to overhear the other would listen on. */
export const listened = [
  otherSubject,
  subjectFilter(tenant, other),
  "contracting.>",
  ">",
  "_INBOX.>",
  "$JS.>",
  "_R_.>"
] as const
