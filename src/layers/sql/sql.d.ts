/** The build inlines a migration's text. */
declare module "*.sql" {
  const text: string
  export default text
}
