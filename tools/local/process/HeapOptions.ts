/**
 * V8 heap sizes of an api process, in MiB. With a smaller young generation, V8 promotes the objects of running requests
 * and collects the old generation every few seconds, which pauses all requests: at 300 webhooks/s on two cores the p99
 * latency was five times as high. The `api` script in package.json, the image and the systemd unit have them too.
 */
export const apiHeapOptions = ["--min-semi-space-size=32", "--max-semi-space-size=32", "--initial-old-space-size=256"]
