import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { drainTimeoutMs } from "../../src/http/server/Server.ts"
import { workerNames } from "../../src/workers/registry.ts"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { assertSettings, commands, readProjectFile } from "../support/assertions/deployment.ts"
import { sectionOf } from "../support/assertions/docs.ts"

const folder = "deploy/kubernetes"

interface Container {
  readonly name: string
  readonly args?: ReadonlyArray<string>
}

interface Labels {
  readonly [name: string]: string
}

interface Workload {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels }
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: { readonly containers: ReadonlyArray<Container> }
    }
  }
}

const kustomization: {
  readonly resources: ReadonlyArray<string>
  readonly images: ReadonlyArray<{ readonly newTag: string }>
  readonly patches: ReadonlyArray<{ readonly path: string; readonly target: { readonly kind: string } }>
} = parse(readProjectFile(`${folder}/kustomization.yaml`))

const documents = kustomization.resources.flatMap((file) =>
  parseAllDocuments(readProjectFile(`${folder}/${file}`)).map((document): Workload => {
    assert.deepStrictEqual(document.errors, [], file)
    return document.toJS()
  })
)

const ofKind = (kind: string) => documents.filter((document) => document.kind === kind)
const namesOf = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name)
const processes = ["api", ...workerNames]

const probes = parse(readProjectFile(`${folder}/probes.yaml`)).spec.template.spec
const pods = parse(readProjectFile(`${folder}/pods.yaml`)).spec.template.spec

describe("The manifests for Kubernetes", () => {
  it("are all used", () => {
    const files = readdirSync(join(projectRoot, folder)).filter((name) => name.endsWith(".yaml"))
    const used = [...kustomization.resources, ...kustomization.patches.map(({ path }) => path)]
    assert.sameMembers(files, [...used, "kustomization.yaml", "secrets.example.yaml"])
  })

  it("have a Deployment and a PodDisruptionBudget for each process, and a Job for the migration", () => {
    assert.sameMembers(namesOf("Deployment"), processes)
    assert.sameMembers(namesOf("PodDisruptionBudget"), processes)
    assert.sameMembers(namesOf("Job"), ["migrate"])
  })

  it("have a Service and a HorizontalPodAutoscaler for the api", () => {
    assert.deepStrictEqual(namesOf("Service"), ["api"])
    assert.deepStrictEqual(namesOf("HorizontalPodAutoscaler"), ["api"])
  })

  it("run commands that exist, and the api by default", () => {
    for (const { metadata, spec } of [...ofKind("Deployment"), ...ofKind("Job")]) {
      const [container] = spec.template.spec.containers
      const { name } = metadata
      assert.deepStrictEqual(container?.args, name === "api" ? undefined : [...(commands[name] ?? [])], name)
    }
  })

  it("select the pods that they create", () => {
    for (const { metadata, spec } of [...ofKind("Deployment"), ...ofKind("PodDisruptionBudget")])
      assert.deepStrictEqual(
        spec.selector.matchLabels,
        { "app.kubernetes.io/name": "contracting", "app.kubernetes.io/component": metadata.name },
        metadata.name
      )
    for (const { spec } of ofKind("Deployment"))
      assert.deepStrictEqual(spec.template.metadata.labels, spec.selector.matchLabels)
  })

  it("set only settings that exist, to values that production accepts", async () => {
    const { stringData } = parse(readProjectFile(`${folder}/secrets.example.yaml`))
    const [configuration] = ofKind("ConfigMap")
    const SECRETS_KEY = Buffer.alloc(32).toString("base64")
    await assertSettings({ ...configuration?.data, ...stringData, SECRETS_KEY })
  })

  it("give no pod more rights than it needs", () => {
    const [container] = pods.containers
    const [patch] = kustomization.patches
    assert.deepStrictEqual(patch, { path: "pods.yaml", target: { kind: "Deployment|Job" } })
    assert.include(
      readProjectFile("Dockerfile"),
      `USER ${pods.securityContext.runAsUser}:${pods.securityContext.runAsGroup}`
    )
    assert.isTrue(pods.securityContext.runAsNonRoot)
    assert.deepStrictEqual(pods.securityContext.seccompProfile, { type: "RuntimeDefault" })
    assert.deepStrictEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
  })

  it("probe every process on the port that the image sets", () => {
    const [container] = probes.containers
    const [port] = container.ports
    assert.include(readProjectFile("Dockerfile"), `METRICS_PORT=${port.containerPort}`)
    for (const probe of [container.startupProbe, container.livenessProbe])
      assert.deepStrictEqual(probe.httpGet, { path: "/healthz", port: port.name })
    assert.deepStrictEqual(container.readinessProbe.httpGet, { path: "/readyz", port: port.name })
  })

  it("wait longer for the end of a process than it takes to drain", () => {
    const [configuration] = ofKind("ConfigMap")
    const delay = Number(configuration?.data?.["SHUTDOWN_DELAY_SECONDS"])
    assert.isAbove(probes.terminationGracePeriodSeconds, delay + drainTimeoutMs / 1000)
  })

  it("scale the delivery worker by a metric that exists", () => {
    const { spec } = parse(readProjectFile(`${folder}/keda/delivery.yaml`))
    assert.include(namesOf("Deployment"), spec.scaleTargetRef.name)
    const [, metric = ""] = /^max\((\w+)/.exec(spec.triggers[0].metadata.query) ?? []
    assert.include(sectionOf("docs/operations.md", "Metrics"), `| \`${metric}\` |`)
  })

  it("use the image of this version", () => {
    const { version } = JSON.parse(readProjectFile("package.json"))
    assert.deepStrictEqual(
      kustomization.images.map(({ newTag }) => newTag),
      [version]
    )
  })
})
