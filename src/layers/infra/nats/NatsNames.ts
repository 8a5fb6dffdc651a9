/** All stream, subject and consumer names. The namespace lets several installations share a broker. */
export const makeNatsNames = (namespace: string) => ({
  /** Events in feed order, read by the fan-out. */
  events: {
    stream: `${namespace}-events`,
    subjects: `${namespace}.events.>`,
    subject: (tenant: string, client: string | undefined, type: string) =>
      `${namespace}.events.${tenant}.${client ?? "_"}.${type}`,
    fanOutConsumer: "fan-out"
  },
  /** Deliveries to NATS integrations. Each consumer pulls the subjects of its own integration. */
  integrations: {
    stream: `${namespace}-integrations`,
    subjects: `${namespace}.integrations.>`,
    /** An event type, `<resource>.<action>`, adds two tokens to the subject. */
    subject: (tenant: string, integration: string, type: string) =>
      `${namespace}.integrations.${tenant}.${integration}.${type}`,
    subjectFilter: (tenant: string, integration: string) => `${namespace}.integrations.${tenant}.${integration}.>`,
    consumerName: (integration: string) => integration
  },
  /** Ids of inbound webhooks, read by intake. */
  inbound: {
    stream: `${namespace}-inbound`,
    subjects: `${namespace}.inbound.>`,
    subject: (tenant: string, integration: string) => `${namespace}.inbound.${tenant}.${integration}`,
    intakeConsumer: "intake"
  },
  /** Signals new events in the outbox. No stream stores it: the relay also polls. */
  wake: `${namespace}.wake`
})

export type NatsNames = ReturnType<typeof makeNatsNames>
