/** `slow` responds with 200 one second before senders time out. */
export type Behaviour = "respond" | "hang" | "fail" | "reset" | "slow"

/** A command to the receiver process, which executes commands one after the other. */
export type ReceiverCommand =
  | { readonly command: "open"; readonly count: number }
  | { readonly command: "behave"; readonly port: number; readonly behaviour: Behaviour }
  | { readonly command: "count" }
  | { readonly command: "take" }

/** The first arrival of an event at a receiver. Times are in milliseconds since the epoch. */
export interface Arrival {
  readonly port: number
  /** The timestamp in the event, taken just before its commit. */
  readonly occurredAt: number
  readonly arrivedAt: number
}
