import ts from "typescript"

/** A literal of a source file that contains SQL. */
export interface SqlTemplate {
  /** The file and the place of the literal, which name it while tests run. */
  readonly id: string
  readonly file: string
  readonly parts: ReadonlyArray<string>
  /** Where each part begins in the file. */
  readonly starts: ReadonlyArray<number>
  /** The tag, or where a literal without one begins and ends. */
  readonly from: number
  readonly to: number
  readonly isTagged: boolean
}

const literalsOf = (node: ts.TemplateLiteral | ts.StringLiteral): ReadonlyArray<ts.LiteralLikeNode> =>
  ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map(({ literal }) => literal)] : [node]

/** Names, operators and words that other texts do not have. */
const looksLikeSql = (text: string) =>
  /\b(select |insert into|delete from|coalesce\(|case when|is (not )?null|interval '|now\(\)|\w+ in \(|\w+_\w+ [<>=]+ )/.test(
    text
  )

/** Whether a text is what `sql.literal` takes. */
const isFragment = ({ parent }: ts.Node) =>
  ts.isCallExpression(parent) &&
  ts.isPropertyAccessExpression(parent.expression) &&
  parent.expression.name.text === "literal"

/** The literals with SQL: those that `sql` tags, and others of the same files that read like SQL. */
export const findTemplates = (file: string, source: string): ReadonlyArray<SqlTemplate> => {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: Array<SqlTemplate> = []

  const add = (node: ts.TemplateLiteral | ts.StringLiteral, tag: ts.Node | undefined) => {
    const literals = literalsOf(node)
    const starts = literals.map((literal) => literal.getStart(parsed) + 1)
    const parts = literals.map(({ text }) => text)
    // An escape sequence is longer in the file than in the text.
    if (!parts.every((part, index) => source.startsWith(part, starts[index]))) return
    const [from, to] = [(tag ?? node).getStart(parsed), (tag ?? node).getEnd()]
    found.push({ id: `${file}:${from}`, file, parts, starts, from, to, isTagged: tag !== undefined })
  }
  const visit = (node: ts.Node) => {
    if (ts.isTaggedTemplateExpression(node)) {
      if (node.tag.getText(parsed) === "sql") add(node.template, node.tag)
      if (ts.isTemplateExpression(node.template)) for (const span of node.template.templateSpans) visit(span.expression)
      return
    }
    const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)
    if (isText && (isFragment(node) || looksLikeSql(node.getText(parsed)))) add(node, undefined)
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return found
}

type Insertion = readonly [from: number, to: number, text: string]

const insertionsOf = (source: string, { from, id, isTagged, to }: SqlTemplate): ReadonlyArray<Insertion> => {
  const name = JSON.stringify(id)
  if (isTagged) {
    return [
      [from, from, "globalThis.sqlMutation.tag("],
      [to, to, `, ${name})`]
    ]
  }
  const hook: Insertion = [from, from, `globalThis.sqlMutation.text(${name})`]
  const quotes = [from, to - 1].map((at): Insertion => [at, at + 1, "`"])
  return source[from] === "`" ? [hook] : [...quotes, hook]
}

/** The source with hooks that replace the text of a literal while a mutant of it is active. */
export const instrument = (source: string, templates: ReadonlyArray<SqlTemplate>) =>
  templates
    .flatMap((template) => insertionsOf(source, template))
    .sort(([a], [b]) => b - a)
    .reduce((text, [from, to, inserted]) => text.slice(0, from) + inserted + text.slice(to), source)
