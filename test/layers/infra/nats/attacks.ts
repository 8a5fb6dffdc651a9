import { makeNatsNames } from "../../../../src/layers/infra/nats/NatsNames.ts"

const { subjectFilter, subject } = makeNatsNames("contracting").integrations

export const [tenant, mine, other] = ["tnt_1", "int_mine", "int_other"] as const

export const otherSubject = subject(tenant, other, "client.created")

/** The body of the other integration's messages. */
export const secretBody = "only for the other integration"

export interface Attack {
  /** Completes the sentence "A user cannot …". */
  readonly name: string
  /** A leading `API` stands for the API prefix of JetStream. */
  readonly subject: string
  readonly payload?: unknown
  readonly reply?: string
  /** JetStream rejects it for every user, the service included. */
  readonly isRejectedForAll?: true
}

const pullOne = { no_wait: true, batch: 1 }
const pushConsumer = { deliver_subject: "_INBOX.spy", ack_policy: "none" }
const pullConsumer = { ack_policy: "none", filter_subject: subjectFilter(tenant, other) }
const consumer = (config: unknown) => ({ stream_name: "contracting-integrations", config })

const reading: ReadonlyArray<Attack> = [
  {
    name: "pull from the consumer of another integration",
    subject: `API.CONSUMER.MSG.NEXT.contracting-integrations.${other}`,
    payload: pullOne
  },
  {
    name: "read the consumer info of another integration",
    subject: `API.CONSUMER.INFO.contracting-integrations.${other}`
  },
  {
    name: "get a message of the stream",
    subject: "API.STREAM.MSG.GET.contracting-integrations",
    payload: { last_by_subj: otherSubject }
  },
  {
    name: "get a message by a direct get",
    isRejectedForAll: true,
    subject: "API.DIRECT.GET.contracting-integrations",
    payload: { last_by_subj: otherSubject }
  },
  {
    name: "get the last message of a subject by a direct get",
    isRejectedForAll: true,
    subject: `API.DIRECT.GET.contracting-integrations.${otherSubject}`
  },
  { name: "list the names of the consumers", subject: "API.CONSUMER.NAMES.contracting-integrations" },
  { name: "list the consumers", subject: "API.CONSUMER.LIST.contracting-integrations" },
  { name: "list the streams", subject: "API.STREAM.NAMES" },
  {
    name: "read the stream info",
    subject: "API.STREAM.INFO.contracting-integrations",
    payload: { subjects_filter: ">" }
  },
  {
    name: "request a snapshot of the stream",
    subject: "API.STREAM.SNAPSHOT.contracting-integrations",
    payload: { deliver_subject: "_INBOX.spy" }
  }
]

const creating: ReadonlyArray<Attack> = [
  {
    name: "create a push consumer",
    subject: "API.CONSUMER.CREATE.contracting-integrations",
    payload: consumer(pushConsumer)
  },
  {
    name: "create a named consumer",
    subject: "API.CONSUMER.CREATE.contracting-integrations.spy",
    payload: consumer({ ack_policy: "none", name: "spy" })
  },
  {
    name: "create a named consumer with a filter",
    subject: `API.CONSUMER.CREATE.contracting-integrations.spy.${subjectFilter(tenant, other)}`,
    payload: consumer({ ...pullConsumer, name: "spy" })
  },
  {
    name: "create a durable consumer",
    subject: "API.CONSUMER.DURABLE.CREATE.contracting-integrations.spy",
    payload: consumer({ ack_policy: "explicit", durable_name: "spy" })
  },
  {
    name: "update its own consumer",
    subject: `API.CONSUMER.CREATE.contracting-integrations.${mine}`,
    payload: consumer({ ack_policy: "explicit", durable_name: mine })
  },
  {
    name: "point its own consumer at the subjects of another integration",
    subject: `API.CONSUMER.DURABLE.CREATE.contracting-integrations.${mine}`,
    payload: consumer({ ...pullConsumer, ack_policy: "explicit", durable_name: mine })
  },
  {
    name: "create a stream that copies the integration stream",
    subject: "API.STREAM.CREATE.SPY",
    payload: { name: "SPY", sources: [{ name: "contracting-integrations" }] }
  }
]

const harming: ReadonlyArray<Attack> = [
  { name: "publish an event of another integration", subject: otherSubject, payload: "forged" },
  {
    name: "publish an event of its own integration",
    subject: subject(tenant, mine, "client.created"),
    payload: "forged"
  },
  {
    name: "acknowledge a message of another integration",
    subject: `$JS.ACK.contracting-integrations.${other}.1.2.1.1.0`,
    payload: "+ACK"
  },
  {
    name: "delete the consumer of another integration",
    subject: `API.CONSUMER.DELETE.contracting-integrations.${other}`
  },
  { name: "delete a message", subject: "API.STREAM.MSG.DELETE.contracting-integrations", payload: { seq: 2 } },
  { name: "purge the stream", subject: "API.STREAM.PURGE.contracting-integrations" },
  { name: "delete the stream", subject: "API.STREAM.DELETE.contracting-integrations" },
  {
    name: "update the stream",
    subject: "API.STREAM.UPDATE.contracting-integrations",
    payload: { name: "contracting-integrations", subjects: ["contracting.nothing"], storage: "file", num_replicas: 1 }
  }
]

/** Allowed requests whose reply subject does the harm. */
const misdirecting: ReadonlyArray<Attack> = [
  {
    name: "direct the reply of a pull to the subject of another integration",
    subject: `API.CONSUMER.MSG.NEXT.contracting-integrations.${mine}`,
    payload: pullOne,
    reply: otherSubject
  },
  {
    name: "direct the reply of a consumer info request to the subject of another integration",
    subject: `API.CONSUMER.INFO.contracting-integrations.${mine}`,
    reply: otherSubject
  },
  {
    name: "direct the reply of an acknowledgement to the acknowledgement subject of another integration",
    isRejectedForAll: true,
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: `$JS.ACK.contracting-integrations.${other}.1.2.1.1.0`
  },
  {
    name: "direct the reply of an acknowledgement to the deletion of another integration's consumer",
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: `$JS.API.CONSUMER.DELETE.contracting-integrations.${other}`
  },
  {
    name: "direct the reply of an acknowledgement to the deletion of the stream",
    subject: `$JS.ACK.contracting-integrations.${mine}.1.1.1.1.0`,
    payload: "+ACK",
    reply: "$JS.API.STREAM.DELETE.contracting-integrations"
  }
]

export const attacks = [...reading, ...creating, ...harming, ...misdirecting]

/** Subjects on which a user might eavesdrop on another integration. */
export const eavesdroppingSubjects = [
  otherSubject,
  subjectFilter(tenant, other),
  "contracting.>",
  ">",
  "_INBOX.>",
  "$JS.>",
  "_R_.>"
] as const
