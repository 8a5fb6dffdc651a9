/** Every name the broker knows of ours, under one word, so that several installations can share a broker. */
export const names = (namespace: string) => ({
  /** Events as they are placed into the feed, for everything that works through them. */
  events: {
    stream: `${namespace}-events`,
    subjects: `${namespace}.events.>`,
    subject: (tenant: string, client: string | undefined, type: string) =>
      `${namespace}.events.${tenant}.${client ?? "_"}.${type}`,
    fanOut: "fan-out"
  },
  /** What consumers over NATS pull, each from the subjects of its own integration. */
  integrations: {
    stream: `${namespace}-integrations`,
    subjects: `${namespace}.integrations.>`,
    /** The type of an event, `<resource>.<action>`, makes two words of the subject. */
    subject: (tenant: string, integration: string, type: string) =>
      `${namespace}.integrations.${tenant}.${integration}.${type}`,
    filter: (tenant: string, integration: string) => `${namespace}.integrations.${tenant}.${integration}.>`,
    consumer: (integration: string) => integration
  },
  /** Which webhooks of trackers came in, for who works them. */
  inbound: {
    stream: `${namespace}-inbound`,
    subjects: `${namespace}.inbound.>`,
    subject: (tenant: string, integration: string) => `${namespace}.inbound.${tenant}.${integration}`,
    intake: "intake"
  },
  /** Says that there is something new in the outbox. Nobody keeps it: whoever is away looks for himself later. */
  wake: `${namespace}.wake`
})

export type Names = ReturnType<typeof names>
