import manifest from "../../../../package.json" with { type: "json" }

/** What runs: the name of the service in logs and traces, and its version. */
export const build = { service: "contracting", version: manifest.version }
