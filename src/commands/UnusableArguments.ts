import { Data } from "effect"

export class UnusableArguments extends Data.TaggedError("UnusableArguments")<{ readonly message: string }> {}
