import { OpenApi } from "@effect/platform"
import { Context } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import { type AccessRule, EndpointAccess } from "./Access.ts"

/** What the OpenAPI document says about an operation. The access rule adds who may call it. */
export interface OperationText {
  /** What the operation does. */
  readonly description: string
  /** What it rejects besides what every operation of its kind rejects: a noun phrase each. */
  readonly rejects?: ReadonlyArray<string>
  /** The events that follow a success. */
  readonly events?: ReadonlyArray<EventType>
  /** Fields in which the example response differs from the example of the resource. Undefined leaves one out. */
  readonly example?: Readonly<Record<string, unknown>>
  /** The event type that the example response shows, for an operation that returns events. */
  readonly exampleEvent?: EventType
}

export class EndpointText extends Context.Tag("http/EndpointText")<EndpointText, OperationText>() {}

/** Annotations that every operation has: its summary, its access rule and its text. */
export const operation = (summary: string, access: AccessRule, text: OperationText) =>
  Context.make(EndpointAccess, access).pipe(Context.add(OpenApi.Summary, summary), Context.add(EndpointText, text))

/** The heading under which viewers list the tag of a group. */
export class TagGroup extends Context.Tag("http/TagGroup")<TagGroup, string>() {}

/** Annotations that every group has: the tag of its operations, and the heading above the tag. */
export const tag = (name: string, heading: string, description: string) =>
  Context.make(TagGroup, heading).pipe(Context.add(OpenApi.Title, name), Context.add(OpenApi.Description, description))
