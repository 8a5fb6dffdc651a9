import { Choice, Field, type FormValues, filled } from "../../ui/forms/Form.tsx"
import { type IntegrationValue, type Provider, providers } from "./providers.ts"

type Config = IntegrationValue["config"]

const prefix = "config."

const isSecurity = (text: string | undefined): text is NonNullable<Config["security"]> =>
  text === "TLS" || text === "STARTTLS"

/** The settings of a form. What the form does not ask for stays: a change replaces all settings. */
const toConfig = (provider: Provider, values: FormValues, before: Config = {}): Config => {
  const given = Object.fromEntries(
    providers[provider].fields
      .map(({ name }) => [name, values[prefix + name]?.trim() ?? ""] as const)
      .filter(([, value]) => value !== "")
  )
  const { port, security, ...texts } = given
  return {
    ...(before.texts === undefined ? {} : { texts: before.texts }),
    ...texts,
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(isSecurity(security) ? { security } : {})
  }
}

/** What a form creates or changes. No response shows a password, so that an empty one stays as it is. */
export const toBody = (provider: Provider, values: FormValues, before?: Config) => {
  const { password } = filled(values)
  return {
    name: values["name"] ?? "",
    config: toConfig(provider, values, before),
    ...(password === undefined ? {} : { password })
  }
}

interface ConfigFieldsProps {
  readonly provider: Provider
  readonly config?: Config
}

/** The settings that a kind of integration has. */
export const ConfigFields = ({ config = {}, provider }: ConfigFieldsProps) => (
  <>
    {providers[provider].fields.map(({ name, options, ...field }) =>
      options === undefined ? (
        <Field key={name} name={prefix + name} value={config[name]} {...field} />
      ) : (
        <Choice key={name} name={prefix + name} value={String(config[name] ?? "")} options={options} {...field} />
      )
    )}
    {provider === "EMAIL" && (
      <Field name="password" label="Password" type="password" hint="No response shows it. Empty: as before." />
    )}
  </>
)
